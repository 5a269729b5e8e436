"""Trees with latent variables."""
