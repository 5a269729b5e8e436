"""The commands of studies, which `mnlearn` finds as entry points."""
