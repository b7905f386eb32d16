"""A plug-in of every kind, in a package of its own: what another package needs, and no more."""
