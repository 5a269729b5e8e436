"""From the conditional distributions of a dependency network to features."""
