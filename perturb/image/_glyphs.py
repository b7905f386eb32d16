"""How small the print in a picture is, guessed without reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from perturb._operator import Pixels

_LEAST, _MOST = 5, 64
_PAGE = 0.5
CELL=4
LOW,HIGH,AR0,AR1=0.15,0.75,0.45,20
SUP=1.2

def smallest_glyph(pixels):
    from scipy import ndimage

    image = Image.fromarray(pixels).convert("L")
    levels = np.asarray(image)
    counts = np.bincount(levels[::4, ::2].ravel(), minlength=256)
    page = int(counts.argmax())
    around = slice(max(0, page - 24), page + 25)
    if counts[around].sum() < _PAGE * counts.sum():
        return None
    contrast = max(page, 255 - page) // 3
    ink = np.asarray(image.point([abs(level - page) > contrast for level in range(256)]))
    h,w=ink.shape[0]//CELL,ink.shape[1]//CELL
    if not h*w: return None
    c=ink[:h*CELL,:w*CELL]
    rows=c[::CELL].copy()
    for k in range(1,CELL): rows|=c[k::CELL]
    cells=rows[:,::CELL].copy()
    for k in range(1,CELL): cells|=rows[:,k::CELL]
    heights=[]
    most=_MOST//CELL+1
    for r,k in ndimage.find_objects(ndimage.label(cells)[0]):
        if r.stop-r.start<=most and 1< k.stop-k.start:
            part=ink[r.start*CELL:r.stop*CELL,k.start*CELL:k.stop*CELL]
            rr=np.flatnonzero(part.any(axis=1)); cc=np.flatnonzero(part.any(axis=0))
            high=int(rr[-1]-rr[0]+1); wide=int(cc[-1]-cc[0]+1); fill=np.count_nonzero(part)/(high*wide)
            if _LEAST<=high<=_MOST and AR0*high<=wide<=AR1*high and LOW<=fill<=HIGH: heights.append(high)
    heights.sort()
    return next((low for low, n in zip(heights, heights[1:]) if n <= SUP * low + 1), heights[0] if heights else None)
