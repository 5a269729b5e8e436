"""Pages that show a whole study: one content, rendered as Markdown and as HTML."""
