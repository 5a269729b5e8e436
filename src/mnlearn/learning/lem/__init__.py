"""LEM: features that divide the examples so that the variables fall apart (Gogate et al. 2010)."""
