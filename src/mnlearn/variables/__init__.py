"""Variables with states, and their indicator columns."""
