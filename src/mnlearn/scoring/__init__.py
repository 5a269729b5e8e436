"""Scores of a model on data, by kind of model."""
