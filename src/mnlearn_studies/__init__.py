"""The reproduction of five papers on top of `mnlearn`: datasets, records, tables, pages."""
