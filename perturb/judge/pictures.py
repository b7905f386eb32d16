"""The judge's eye: whether a picture still shows what it showed, without asking a model."""

from __future__ import annotations

import numpy as np

from mmdyn.keys import Json
from mmdyn.models import Ocr
from perturb.item import Pixels
from perturb.judge._edges import Edges, find_edges, kept, locate
from perturb.judge._judge import Doubt, Look
from perturb.judge._reading import misread

VERSION = 2
"""Goes up whenever equal pictures may get another doubt."""

_LOST = 0.6
"""A picture that keeps less of its edges than this is another one, or cut, or blurred beyond reading."""

_CHANGED = (0.8, 0.6, 0.5)
"""The share of its edges that every block must keep, where edges may lie 0, 1 and 2 pixels off."""

_NEW = 32
"""Texture that a style lays over a page is fainter than this; new lines are not."""


def picture_checks(ocr: Ocr | None) -> Json:
    """Which checks take part, for the identity of a judge."""
    return {"version": VERSION, "edges": True, "ocr": ocr.identity if ocr else None}


def check_pictures(looks: tuple[Look, ...], ocr: Ocr | None) -> Doubt | None:
    """What speaks against the pictures of a variant; None where nothing does.

    A variant's picture may have a frame, inverted or other colours and another texture; its content is neither scaled
    nor turned. Certain is what nobody could answer from: a picture that was cut, is blank or kept hardly any of its
    edges. Doubtful are lines that are gone or new somewhere, and, where `ocr` is given, words and numbers that are not
    read alike. A picture without any edge, such as an empty page, has nothing to lose.
    """
    doubts = list[Doubt]()
    for number, look in enumerate(looks, 1):
        if doubt := _check(look.before.pixels, look.after.pixels, ocr):
            if len(looks) > 1:
                doubt = Doubt(f"picture {number}: {doubt.reason}", doubt.certain, doubt.confidence)
            if doubt.certain:
                return doubt
            doubts.append(doubt)
    return doubts[0] if doubts else None


def _check(before: Pixels, after: Pixels, ocr: Ocr | None) -> Doubt | None:
    height, width = before.shape[:2]
    if after.shape[0] < height or after.shape[1] < width:
        sizes = f"{width}x{height} to {after.shape[1]}x{after.shape[0]}"
        return Doubt(f"the picture was cut from {sizes} pixels", certain=True, confidence=0.99)
    edges = find_edges(before)
    if edges.none:
        return None
    left, top = locate(edges, find_edges(after))
    content = after[top : top + height, left : left + width]
    if before.ndim != content.ndim:
        before, content = _rgb(before), _rgb(content)
    if np.array_equal(before, content) or np.array_equal(~before, content):
        return None
    if doubt := _check_edges(edges, find_edges(content)):
        return doubt
    if ocr and (problem := misread(before, _polarised(before, content), ocr)):
        return Doubt(problem, certain=False, confidence=0.8)
    return None


def _check_edges(before: Edges, after: Edges) -> Doubt | None:
    if after.none:
        return Doubt("the picture is blank", certain=True, confidence=0.99)
    lines = kept(before, after)
    if lines.share < _LOST:
        return Doubt(f"only {lines.share:.0%} of the picture's lines are left", certain=True, confidence=0.95)
    if lines.worst < _CHANGED[lines.near]:
        return Doubt(f"lines near {lines.place} are gone or changed", certain=False, confidence=0.8)
    new = kept(Edges(after.steps, max(before.clear, after.clear, _NEW)), before)
    if new.worst < _CHANGED[new.near]:
        return Doubt(f"lines near {new.place} were added or changed", certain=False, confidence=0.8)
    return None


def _rgb(pixels: Pixels) -> Pixels:
    return np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels


def _polarised(before: Pixels, content: Pixels) -> Pixels:
    """The content inverted back where it was inverted: dark where the original is dark, as readers were trained to
    read."""
    dark = before < before.mean()
    return ~content if dark.any() and content[dark].mean() > content[~dark].mean() else content
