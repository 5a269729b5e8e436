"""The command as `python -m mnlearn.cli`."""

from mnlearn.cli import main

main()
