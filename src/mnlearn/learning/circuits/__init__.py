"""Growing circuits by splits."""
