"""Learning that is not one paper's method, and the contract of a method."""
