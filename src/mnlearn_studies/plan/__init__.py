"""What a run of a study makes: recipes of records, and which of them are there."""
