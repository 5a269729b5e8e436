"""The command as `python -m mnlearn`."""

from mnlearn.cli import main

if __name__ == "__main__":
    main()
