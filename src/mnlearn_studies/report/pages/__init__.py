"""Pages of results, as Markdown: of a study, of all studies, and of how closely papers are met."""
