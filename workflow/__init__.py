"""The studies, the rules that run them, and the programs that make and check the record."""
