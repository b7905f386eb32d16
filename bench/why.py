"""How well the analyses of a drop hold: models of known truth, estimates, coverage, false alarms. Prints the tables of
docs/appendix/why.md.

    python bench/why.py [--replications 2000] [PART ...]

The parts are attribution, ladder, curves and plan, all of them without one; each is a script of its own (why_PART.py).
They take some ten minutes each on one core.
"""

from __future__ import annotations

import argparse
from importlib import import_module

PARTS = ("attribution", "ladder", "curves", "plan")


def main() -> None:
    """Print the tables of the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--replications", type=int, default=2000, help="replications of each simulated cell")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)}: give some of {', '.join(PARTS)}")
    for part in given.parts or PARTS:
        import_module(f"why_{part}").print_tables(given.replications)


if __name__ == "__main__":
    main()
