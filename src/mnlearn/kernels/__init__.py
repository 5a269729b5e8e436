"""Compiled inner loops: arrays in, arrays out; nothing here knows of models, files or options."""
