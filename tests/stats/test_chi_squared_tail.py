"""The tail of chi-squared is scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import chdtrc

from mmdyn.stats.cluster_robust import chi_squared_tail


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 9, 25, 60])
def test_it_is_scipy_s(freedom: int) -> None:
    values = [0.0, 1e-300, 1e-9, 0.1, 1.0, 3.84, 10.0, 60.0, 300.0, 1400.0, 5000.0]
    found = [chi_squared_tail(value, freedom) for value in values]
    np.testing.assert_allclose(found, chdtrc(freedom, values), rtol=1e-11, atol=1e-300)
    assert found == sorted(found, reverse=True) and found[0] == 1
