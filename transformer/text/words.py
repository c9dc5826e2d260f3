"""Pieces as a person reads them: whole words, and labels that are never blank."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from transformer.text.tokenizer import SPECIAL_PIECES

SPACE = "\u2581"
SHOWN_SPACE = "\u2423"  # ␣
CONTINUATION = "·"
JOINERS = ("\u200c", "\u200d")
BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


def group_words(pieces: Sequence[str]) -> list[int]:
    """For each piece the number of its word, counted from 0.

    A word starts at a piece with a leading ▁, at a special piece and after one, and where letters meet punctuation or
    space: "▁street" "." are two words. An apostrophe or hyphen between letters, and a point, comma or colon between
    digits, stay inside their word: "didn't", "3.5". The byte pieces of one character stay together.
    """
    texts = _characters(pieces)
    starts = [index for index, text in enumerate(texts) if text is not None]  # without later bytes of a character
    following = {index: texts[after] or "" for index, after in pairwise(starts)}
    numbers, word, before = [], -1, ""
    for index, text in enumerate(texts):
        special = pieces[index] in SPECIAL_PIECES
        if text is not None:
            if word < 0 or special or not before or _splits(before, text, following.get(index, "")):
                word, before = word + 1, ""
            before = "" if special else (before + text)[-2:]  # nothing: the next piece starts a word
        numbers.append(word)
    return numbers


def display_pieces(pieces: Sequence[str]) -> list[str]:
    """A label for each piece, never blank and without control characters.

    A leading ▁ is left out and a piece that is nothing else reads ␣. Of the byte pieces of one character the first
    reads the character and the others ·; bytes that form no character keep their name, <0xE2>. A character that shows
    nothing of its own reads as a picture (␊) or a number (U+200D), and a combining mark stands on a dotted circle.
    """
    labels = []
    for piece, text in zip(pieces, _characters(pieces), strict=True):
        if piece in SPECIAL_PIECES:
            labels.append(piece)
        elif text is None:
            labels.append(CONTINUATION)
        else:
            shown = text.removeprefix(SPACE) or SPACE
            plain = shown.isascii() and shown.isalnum()
            labels.append(shown if plain else "".join(_visible(shown, position) for position in range(len(shown))))
    return labels


def display_word(pieces: Sequence[str]) -> str:
    """One label for the pieces of a word: its text, as display_pieces shows a piece's, with byte pieces put together.

    A joiner between two characters stays what it is, so that joined emoji show as one.
    """
    if any(piece in SPECIAL_PIECES for piece in pieces):
        return "".join(pieces)
    text = "".join(text for text in _characters(pieces) if text is not None)
    shown = text.removeprefix(SPACE) or SPACE
    joined = range(1, len(shown) - 1)
    return "".join(
        shown[place] if place in joined and shown[place] in JOINERS else _visible(shown, place)
        for place in range(len(shown))
    )


def _characters(pieces: Sequence[str]) -> list[str | None]:
    """The text of each piece; the first byte piece of a character has the character, the others None."""
    texts: list[str | None] = list(pieces)
    if not any(piece.startswith("<0x") for piece in pieces):
        return texts
    index = 0
    while index < len(pieces):
        length, character = _character_at(pieces, index)
        if character is not None:
            texts[index] = character
            texts[index + 1 : index + length] = [None] * (length - 1)
        index += length
    return texts


def _character_at(pieces: Sequence[str], index: int) -> tuple[int, str | None]:
    """How many byte pieces from `index` on form one character, and which; (1, None) if they form none."""
    values = bytearray()
    for piece in pieces[index : index + 4]:
        byte = BYTE_PIECE.fullmatch(piece)
        if byte is None:
            break
        values.append(int(byte[1], 16))
        try:
            return len(values), values.decode("utf-8")
        except UnicodeDecodeError:
            continue
    return 1, None


def _splits(before: str, text: str, following: str) -> bool:
    """Whether a word ends between `before`, its last two characters, and `text`, which `following` follows."""
    if text.startswith(SPACE):
        return True
    left, right = _kind(before[-1]), _kind(text[0])
    if "join" in (left, right) or left == right:
        return False
    if right == "mark":
        return not _joins(text, before[-1], following[:1])
    return not (left == "mark" and _joins(before[-1], before[-2:-1], text[0]))


def _joins(mark: str, left: str, right: str) -> bool:
    """Whether punctuation between these two characters belongs to their word."""
    if mark in ("'", "\u2019", "-", "\u2010", "\u2011"):
        return left.isalnum() and right.isalnum()
    return mark in (".", ",", ":") and left.isdigit() and right.isdigit()


def _kind(character: str) -> str:
    """letter, mark (punctuation and symbols), space, or join (what goes with any neighbour)."""
    if character in ("", SPACE):
        return "join"
    category = unicodedata.category(character)
    if character.isspace() or category == "Cc":
        return "space"
    if category[0] == "M" or category in ("Cf", "Sk"):
        return "join"
    return "mark" if category[0] in "PS" else "letter"


def _visible(text: str, position: int) -> str:
    character = text[position]
    code, category = ord(character), unicodedata.category(character)
    if character in (SPACE, " "):
        return SHOWN_SPACE
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if category[0] in "CZ":
        return f"U+{code:04X}"
    if category[0] == "M" and position == 0:
        return f"\u25cc{character}"
    return character
