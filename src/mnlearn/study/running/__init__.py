"""Running studies with Snakemake."""
