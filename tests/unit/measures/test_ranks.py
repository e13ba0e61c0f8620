"""Spearman's rank correlation, against pandas and by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.measures.ranks import rank_correlation, ranks

numbers = st.lists(st.integers(-5, 5), min_size=3, max_size=12)


@given(st.data())
def test_it_is_that_of_pandas(data):
    one = data.draw(numbers)
    other = data.draw(st.lists(st.integers(-5, 5), min_size=len(one), max_size=len(one)))
    found = rank_correlation(np.array(one, float), np.array(other, float))
    np.testing.assert_allclose(ranks(np.array(one, float)), pd.Series(one).rank())
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(found)
    else:
        wanted = np.corrcoef(pd.Series(one).rank(), pd.Series(other).rank())[0, 1]
        assert found == pytest.approx(wanted, abs=1e-12)
