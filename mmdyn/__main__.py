"""python -m mmdyn."""

from mmdyn.cli import main

if __name__ == "__main__":
    main()
