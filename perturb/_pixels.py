"""Pixels as arrays and as tensors on some device. Both are uint8 of shape (height, width) or (height, width, 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mmdyn.errors import NotNow
from mmdyn.work import OUT_OF_MEMORY, is_out_of_memory

if TYPE_CHECKING:
    from perturb._operator import Pixels


def to_device(pixels: Pixels, device: str) -> Any:
    """An array's pixels as a tensor on a device, such as cuda:0; the array stays as it is.

    Raises NotNow where the device has no memory left.
    """
    import torch

    try:
        return torch.from_numpy(np.array(pixels)).to(device)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    raise NotNow(OUT_OF_MEMORY)


def to_host(pixels: Any) -> Pixels:
    """A tensor's pixels as a read-only array; an array is handed back. Waits for the tensor's device."""
    if isinstance(pixels, np.ndarray):
        return pixels
    array: Pixels = pixels.cpu().numpy()
    array.flags.writeable = False
    return array
