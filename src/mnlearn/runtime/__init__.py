"""The basis of all other folders: files, arrays, threads, random streams, errors, provenance."""
