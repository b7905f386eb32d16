"""Scratch."""
from __future__ import annotations
from itertools import combinations
from math import factorial
import numpy as np
from mmdyn.stats.intervals import Floats

def _basis(on):
    m = on.shape[1]
    pairs = list(combinations(range(m), 2))
    return np.column_stack([on.astype(float), *[(on[:, a] & on[:, b]).astype(float) for a, b in pairs]]), pairs

def _fit(on):
    x, pairs = _basis(on)
    size = on.sum(1); e = int(np.flatnonzero(size == 0)[0]); f = int(np.flatnonzero(size == on.shape[1])[0])
    # y - y[e] = x b, with x[f] b = y[f]-y[e]
    k = x.shape[1]
    kkt = np.zeros((k + 1, k + 1)); kkt[:k, :k] = x.T @ x; kkt[:k, k] = kkt[k, :k] = x[f]
    n = len(on); d = np.eye(n); d[:, e] -= 1
    rhs = np.vstack([x.T @ d, d[f]])
    return np.linalg.solve(kkt, rhs)[:k], pairs

def shapley_weights(on):
    n, m = on.shape
    if n == 2 ** m:
        code = {tuple(r): i for i, r in enumerate(on.tolist())}
        w = np.zeros((m, n))
        for i in range(m):
            for r, place in code.items():
                if not r[i]:
                    s = sum(r); c = factorial(s) * factorial(m - s - 1) / factorial(m)
                    w[i, code[r[:i] + (True,) + r[i + 1:]]] += c; w[i, place] -= c
        return w
    size = on.sum(1)
    if n >= 1 + m + m * (m - 1) // 2:
        b, pairs = _fit(on)
        w = b[:m].copy()
        for j, (a, c) in enumerate(pairs):
            w[a] += b[m + j] / 2; w[c] += b[m + j] / 2
        return w
    order = np.argsort(size, kind="stable")
    up = np.zeros(n); down = np.zeros(n); up[size == 0] = 1; down[size == m] = 1
    edges = [(a, b) for a in order for b in order if size[b] == size[a] + 1 and not (on[a] & ~on[b]).any()]
    for a, b in edges: up[b] += up[a]
    for a, b in reversed(edges): down[a] += down[b]
    total = up[size == m][0]
    if not total or (up * down == 0).any(): raise ValueError("no path")
    w = np.zeros((m, n))
    for a, b in edges:
        i = int(np.flatnonzero(on[b] & ~on[a])[0]); c = up[a] * down[b] / total
        w[i, b] += c; w[i, a] -= c
    return w

def interaction_weights(on):
    n, m = on.shape
    pairs = list(combinations(range(m), 2))
    if n == 2 ** m:
        code = {tuple(r): i for i, r in enumerate(on.tolist())}
        w = np.zeros((len(pairs), n))
        for j, (a, b) in enumerate(pairs):
            for r, place in code.items():
                rest = [v for t, v in enumerate(r) if t not in (a, b)]
                s = sum(rest); c = factorial(s) * factorial(m - s - 2) / factorial(m - 1)
                w[j, place] += c * (1 if r[a] == r[b] else -1)
        return w
    if n >= 1 + m + m * (m - 1) // 2:
        b, _ = _fit(on)
        return b[m:]
    return np.zeros((0, n))
