import numpy as np

from tests.ui.samples import asymmetric, attention, tokens
from ui.head_table import head_table


def test_rows_are_queries_and_columns_are_keys():
    frame = head_table(asymmetric(), 0, 1)
    assert list(frame.columns) == ["query ↓ · key →", "0 yes", "1 no", "2 </s>"]
    assert list(frame.iloc[:, 0]) == ["0 ja", "1 nein"]
    assert frame.iloc[:, 1:].to_numpy().tolist() == [[0.25, 0.75, 0], [0.5, 0.125, 0.375]]


def test_repeated_and_invisible_words_keep_a_column_each():
    frame = head_table(attention(np.eye(3)[None, None], tokens("the", "the", "\0"), tokens("the", "the", "\0")), 0, 0)
    assert list(frame.columns[1:]) == ["0 the", "1 the", "2 ␀"]


def test_masked_is_not_0_and_no_number_is_neither():
    words = tokens("a", "b")
    pattern = [[[[1, 0], [0.5, 0.5]]], [[[1, 0], [np.nan, 0.5]]]]
    causal = attention(pattern, words, words, kind="decoder", mask=np.tri(2, dtype=bool))
    assert np.isnan(head_table(causal, 0, 0).iloc[0, 2])
    assert head_table(causal, 0, 0).iloc[1, 1] == 0.5
    broken = head_table(causal, 1, 0)
    assert (broken.iloc[0, 1], broken.iloc[1, 1]) == ("1.000", "not a number")
    assert broken.isna().to_numpy().tolist() == [[False, False, True], [False, False, False]]
