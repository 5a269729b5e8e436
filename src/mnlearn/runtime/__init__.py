"""What every other part rests on: files, arrays, threads, random streams, errors, provenance."""
