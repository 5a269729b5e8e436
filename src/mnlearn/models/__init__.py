"""Models as frozen dataclasses of flat arrays, and their files."""
