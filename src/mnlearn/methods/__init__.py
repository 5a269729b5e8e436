"""Learners, one file each. The registry is the list of files."""
