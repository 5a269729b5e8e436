"""Hidden Chow-Liu trees."""
