"""The datasets of studies: registry, download, preparation."""
