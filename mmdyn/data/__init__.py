"""Samples in and out of files: the set folder, one file a format under `formats`, and pictures.

Sets are streamed: read and written sample by sample; pictures lie in files named by their bytes' SHA-256.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
