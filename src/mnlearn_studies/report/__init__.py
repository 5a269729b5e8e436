"""What cells show: tables, figures, claims, pages."""
