"""The library as people use it in Python: estimators, models with methods, and functions."""
