"""What picture operators do to pixels where these are a torch tensor on some device: the same bits as for arrays.

Tensors hold what arrays hold: uint8 of shape (height, width) or (height, width, 3). Nothing here waits for a device but
`to_host`: sizes and counts are reckoned on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from perturb._operator import Pixels

_LOW = 0xFFFFFFFF
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - (1 << 32)
"""lowbias32's factors; the second as the negative number that is equal modulo 2^32, so that no product leaves 64 bits."""


def to_device(pixels: Pixels, device: str) -> Any:
    """An array's pixels as a tensor on a device, such as cuda:0; the array stays as it is."""
    import torch

    return torch.from_numpy(np.array(pixels)).to(device)


def to_host(pixels: Any) -> Pixels:
    """A tensor's pixels as a read-only array; an array is handed back. Waits for the tensor's device."""
    if isinstance(pixels, np.ndarray):
        return pixels
    array: Pixels = pixels.cpu().numpy()
    array.flags.writeable = False
    return array


def plain(pixels: Pixels, shape: tuple[int, ...], value: int) -> Pixels:
    """A picture of this shape and of one value (0 to 255): an array or, on the same device, a tensor, as `pixels` is."""
    if isinstance(pixels, np.ndarray):
        return np.full(shape, value, np.uint8)
    tensor: Pixels = pixels.new_full(shape, value)
    return tensor


def sprinkled(pixels: Any, draws: int, keys: tuple[int, int]) -> Any:
    """A tensor's picture with specks, bit by bit as `image.salt_pepper` makes them in arrays.

    Each of `draws` numbers is hashed to a place with the first key, and each place to white or black with the second.
    """
    import torch

    noisy = pixels.clone()
    flat = noisy.view(pixels.shape[0] * pixels.shape[1], -1)
    places = (_mixed(torch.arange(draws, device=pixels.device), keys[0]) * len(flat)) >> 32
    flat[places] = ((_mixed(places, keys[1]) >> 31) * 255).to(torch.uint8)[:, None]
    return noisy


def _mixed(values: Any, key: int) -> Any:
    """`perturb._hashing.mixed` on 32-bit values in an int64 tensor."""
    return _lowbias32((_lowbias32(values ^ (key & _LOW)) + (key >> 32)) & _LOW)


def _lowbias32(x: Any) -> Any:
    x = ((x ^ (x >> 16)) * _FIRST) & _LOW
    x = ((x ^ (x >> 15)) * _SECOND) & _LOW
    return x ^ (x >> 16)
