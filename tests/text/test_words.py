"""Pieces grouped into words, and the labels people read."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.tokenizer import SPECIAL_PIECES
from transformer.text.words import display_pieces, group_words

FAMILY = [f"<0x{byte:02X}>" for byte in "👨‍👩‍👧".encode()]

WORDS = {
    "nothing": ([], []),
    "one piece": (["▁The"], [0]),
    "no leading space": (["The", "▁cat"], [0, 1]),
    "pieces of a word": (["▁tele", "phone", "▁rings"], [0, 0, 1]),
    "punctuation": (["▁the", "▁street", ".", "</s>"], [0, 1, 2, 3]),
    "several marks": (["▁street", ".", ".", ".", "”"], [0, 1, 1, 1, 1]),
    "opening mark": (["▁(", "see", ")"], [0, 1, 2]),
    "mark after a space of its own": (["▁", "“", "Ja", "”", ",", "▁he"], [0, 0, 1, 2, 2, 3]),
    "apostrophe": (["▁didn", "'", "t", "▁go"], [0, 0, 0, 1]),
    "curly apostrophe in bytes": (["▁didn", "<0xE2>", "<0x80>", "<0x99>", "t"], [0, 0, 0, 0, 0]),
    "apostrophe at the end": (["▁dogs", "'", "▁toys"], [0, 1, 2]),
    "apostrophe at the beginning": (["▁'", "tis"], [0, 1]),
    "hyphen": (["▁well", "-", "known"], [0, 0, 0]),
    "hyphen at the end": (["▁Haus", "-", "▁und"], [0, 1, 2]),
    "dash": (["▁a", "–", "b"], [0, 1, 2]),
    "number": (["▁3", ".", "5", "0", "▁€"], [0, 0, 0, 0, 1]),
    "number at the end": (["▁in", "▁20", "18", "."], [0, 1, 1, 2]),
    "point between letters": (["▁end", ".", "The"], [0, 1, 2]),
    "per cent": (["▁10", "%"], [0, 1]),
    "special pieces": (["<s>", "The", "<unk>", "<unk>", "a", "</s>", "<pad>"], [0, 1, 2, 3, 4, 5, 6]),
    "more than one space": (["▁a", "▁", "▁", "▁b"], [0, 1, 2, 3]),
    "line break": (["▁a", "<0x0A>", "b"], [0, 1, 2]),
    "emoji of several characters": (["▁", *FAMILY, "▁x"], [0] * (1 + len(FAMILY)) + [1]),
    "emoji after a word": (["▁cool", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"], [0, 1, 1, 1, 1]),
    "decomposed letter": (["▁e", "<0xCC>", "<0x81>", "t"], [0, 0, 0, 0]),
    "Hebrew in bytes": (["▁", "<0xD7>", "<0xA9>", "<0xD7>", "<0x9C>"], [0, 0, 0, 0, 0]),
    "letters without spaces": (["▁動物", "は", "道"], [0, 0, 0]),
}

LABELS = {
    "word": ("▁The", "The"),
    "space alone": ("▁", "␣"),
    "space inside": ("▁a▁b", "a␣b"),
    "special": ("</s>", "</s>"),
    "line feed": ("<0x0A>", "␊"),
    "NUL": ("<0x00>", "␀"),
    "delete": ("<0x7F>", "␡"),
    "letter as a byte": ("<0x41>", "A"),
    "half a character": ("<0xE2>", "<0xE2>"),
    "no-break space": ("▁\u00a0", "U+00A0"),
    "joiner": ("\u200d", "U+200D"),
    "override of direction": ("a\u202eb", "aU+202Eb"),
    "private use": ("\ue000", "U+E000"),
    "combining mark": ("\u0301", "◌\u0301"),
    "combining mark after a letter": ("e\u0301", "e\u0301"),
    "markup": ("<b>", "<b>"),
}


@pytest.mark.parametrize(("pieces", "words"), WORDS.values(), ids=WORDS)
def test_words(pieces, words):
    assert group_words(pieces) == words


@pytest.mark.parametrize(("piece", "label"), LABELS.values(), ids=LABELS)
def test_labels(piece, label):
    assert display_pieces([piece]) == [label]


def test_the_first_byte_of_a_character_shows_it():
    assert display_pieces(["▁", "<0xE2>", "<0x98>", "<0x83>", "</s>"]) == ["␣", "☃", "·", "·", "</s>"]
    assert display_pieces(["<0xC3>", "<0xC3>", "<0xA9>"]) == ["<0xC3>", "é", "·"]
    assert display_pieces(["<0x99>", "<0xE2>", "<0x98>", "a"]) == ["<0x99>", "<0xE2>", "<0x98>", "a"]


ANY_PIECE = st.one_of(
    st.sampled_from([*SPECIAL_PIECES, "▁", "▁a", "b", ".", "'", "-", "7"]),
    st.integers(0, 255).map("<0x{:02X}>".format),
    st.text(min_size=1, max_size=3),
    st.characters().map(lambda character: f"▁{character}"),
)


@given(st.lists(ANY_PIECE))
def test_words_are_numbered_in_order_and_special_pieces_stand_alone(pieces):
    words = group_words(pieces)
    assert len(words) == len(pieces)
    assert words[:1] in ([], [0])
    for index, (before, after) in enumerate(pairwise(words)):
        assert after - before in (0, 1)
        starts = pieces[index + 1].startswith("▁") or {pieces[index], pieces[index + 1]} & set(SPECIAL_PIECES)
        assert after - before == 1 or not starts


@given(st.lists(ANY_PIECE))
def test_labels_are_never_blank_and_hold_no_control_character(pieces):
    labels = display_pieces(pieces)
    assert len(labels) == len(pieces)
    for label in labels:
        assert label.strip()
        assert not any(unicodedata.category(character)[0] in "CZ" for character in label)
