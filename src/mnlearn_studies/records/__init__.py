"""Cells: the records of a study, one file for each kind."""
