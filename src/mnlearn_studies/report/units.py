"""Units in which log-likelihoods are shown."""

import math

# Log-likelihoods in nats, multiplied by this, are in the unit.
UNITS = {"nats": 1.0, "bits": 1.0 / math.log(2.0)}
