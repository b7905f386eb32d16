"""Read and write samples: the set folder, file formats (one file each under `formats`), and pictures.

Sets are streamed sample by sample; picture files are named by their bytes' SHA-256.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
