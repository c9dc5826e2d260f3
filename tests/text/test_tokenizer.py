"""Text to ids and back, without losing a character; vocabularies that small texts cannot fill."""

import io
import re

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.tokenizer import BOS, EOS, PAD, SPECIAL_PIECES, UNK, Tokenizer

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Two  spaces, a\ttab and (brackets) – 3.50 € for 10 % of <s> it.",
] * 3

ROUND_TRIPS = {
    "nothing": "",
    "one space": " ",
    "three spaces": "   ",
    "leading spaces": "  The animal",
    "trailing spaces": "The animal  ",
    "repeated spaces": "The   animal",
    "tab": "The\tanimal",
    "tab alone": "\t",
    "newline": "The\nanimal\n",
    "carriage return": "\r\n",
    "NUL": "\0The\0animal\0",
    "control characters": "\x01\x1b[31m\x7f\x85",
    "line separator": "The\u2028animal",
    "no-break and ideographic space": "\u00a0The\u3000animal\u00a0",
    "byte order mark": "\ufeffThe",
    "begin of sentence": "<s>",
    "end of sentence": "The animal</s>",
    "unknown": "<unk> <pad>",
    "byte piece": "<0x41>",
    "half a byte piece": "<0xE2",
    "SentencePiece's unknown surface": " ⁇ ",
    "SentencePiece's reserved character": "a\u2585b",
    "replacement character": "\ufffd",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "ligature": "\ufb01ne",
    "compatibility forms": "Ⅷ ½ ﹩ ＡＢＣ",
    "right to left": "שלום עולם, مرحبا",
    "marks of direction": "\u202eabc\u202c",
    "Chinese and Japanese": "動物は道を渡らなかった。",
    "emoji": "🙂",
    "family": "👨‍👩‍👧‍👦 went home",
    "skin tone and flag": "👍🏽🇩🇪",
    "private use": "\ue000\U0010fffd",
    "last code point": "\U0010ffff",
    "long word": "Donau" * 2_000,
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=330)


def foreign_model(**options) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, minloglevel=2, vocab_size=50, **options
    )
    return model.getvalue()


@pytest.mark.parametrize("text", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_decoding_returns_what_was_encoded(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(number > EOS for number in ids)


@given(st.text())
def test_decoding_returns_any_text_but_the_sign_for_a_space(tokenizer, text):
    text = text.replace("\u2581", "")
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(EOS < number < len(tokenizer) for number in ids)


@given(st.lists(st.sampled_from([" ", "▁", "<", "</s>", "<0x41>", "a", "é", "\n", "\0", "the "]), max_size=8))
def test_the_sign_for_a_space_comes_back_as_a_space(tokenizer, parts):
    text = "".join(parts)
    assert tokenizer.decode(tokenizer.encode(text)) == text.replace("▁", " ")


@given(st.lists(st.integers(0, 329)))
def test_decoding_takes_any_ids(tokenizer, ids):
    text = tokenizer.decode(ids)
    assert text == tokenizer.decode([number for number in ids if number > EOS])
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_special_ids_are_the_first_four(tokenizer):
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert tuple(tokenizer.pieces([PAD, UNK, BOS, EOS])) == SPECIAL_PIECES
    assert tokenizer.decode([BOS, *tokenizer.encode(" a"), EOS, PAD, PAD]) == " a"


def test_pieces_are_sentencepieces_own(tokenizer):
    assert tokenizer.pieces(tokenizer.encode("the")) == ["▁t", "he"]
    assert tokenizer.pieces(tokenizer.encode("Q\n")) == ["▁", "<0x51>", "<0x0A>"]
    assert tokenizer.pieces(tokenizer.encode("☃")) == ["▁", "<0xE2>", "<0x98>", "<0x83>"]
    assert tokenizer.pieces([]) == []


def test_every_byte_is_a_piece(tokenizer):
    assert tokenizer.pieces(range(4, 260)) == [f"<0x{byte:02X}>" for byte in range(256)]
    assert len(tokenizer) == 330


def test_bytes_that_form_no_character_are_replaced(tokenizer):
    snowman = tokenizer.encode("☃")
    assert tokenizer.decode(snowman[:-1]).startswith("\ufffd")


def test_a_rare_character_becomes_bytes():
    common = ["abcd efgh"] * 2_000
    tokenizer = Tokenizer.train([*common, "ß"], vocab_size=282)
    assert tokenizer.pieces(tokenizer.encode("ß")) == ["▁", "<0xC3>", "<0x9F>"]


@pytest.mark.parametrize("text", ["\ud800", "ab\udfff"])
def test_a_lone_surrogate_is_refused(tokenizer, text):
    where, code = len(text) - 1, ord(text[-1])
    message = f"Character {where} of the text is the lone surrogate U+{code:04X}; allowed is valid Unicode."
    with pytest.raises(ValueError, match=re.escape(message)):
        tokenizer.encode(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        Tokenizer.train(["the animal", text], 300)


@pytest.mark.parametrize("number", [-1, 330])
def test_an_id_outside_the_vocabulary_is_refused(tokenizer, number):
    message = f"The id {number} is not in the vocabulary; allowed is 0 to 329."
    with pytest.raises(ValueError, match=re.escape(message)):
        tokenizer.decode([5, number])
    with pytest.raises(ValueError, match=re.escape(message)):
        tokenizer.pieces([number])


def test_a_small_text_fills_what_it_can_and_says_so():
    with pytest.warns(
        UserWarning, match=r"^The text allows a vocabulary of 267 pieces, not the 4000 wished for\.$"
    ) as seen:
        tokenizer = Tokenizer.train(["a b c"], 4_000)
    assert len(seen) == 1
    # 4 special pieces and 256 bytes, then ▁ a b c and the three words ▁a ▁b ▁c.
    assert len(tokenizer) == 267
    assert tokenizer.pieces(tokenizer.encode("a b c")) == ["▁a", "▁b", "▁c"]


def test_a_vocabulary_without_room_for_the_letters_is_refused():
    with pytest.raises(ValueError, match=r"^vocab_size is 263; with this text allowed is 264 or more, for bytes"):
        Tokenizer.train(["a b c"], 263)
    with pytest.warns(UserWarning, match="267"):
        assert len(Tokenizer.train(["a b c"], 5_000)) == 267
    assert len(Tokenizer.train(["a b c"], 264)) == 264


@pytest.mark.parametrize("vocab_size", [-5, 0])
def test_a_vocabulary_of_nothing_is_refused(vocab_size):
    with pytest.raises(ValueError, match=f"vocab.* {vocab_size}\\b") as refused:
        Tokenizer.train(["a b c"], vocab_size)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("sentences", [[], ["", ""]], ids=["no sentence", "empty sentences"])
def test_no_text_is_refused(sentences):
    with pytest.raises(ValueError, match=r"^The tokenizer has no text to learn from; allowed is at least one sentence"):
        Tokenizer.train(sentences, 300)


def test_no_training_sentence_is_lost():
    long = "qu " * 3_000
    reserved = "w\u2585x"
    tokenizer = Tokenizer.train([long, reserved, "a\nb"], 270)
    letters = {tokenizer.pieces([number])[0] for number in range(260, len(tokenizer))}
    assert {"q", "u", "w", "x", "a", "b"} <= letters


def test_text_that_reads_like_a_special_piece_is_never_learnt_as_one():
    with pytest.warns(UserWarning, match="not the 2000 wished for"):
        tokenizer = Tokenizer.train(["a</s>b </s> <0x41> <pad>"] * 50, 2_000)
    for text in ("</s>", "<0x41>", "<pad>"):
        ids = tokenizer.encode(text)
        assert not set(tokenizer.pieces(ids)) & {text, f"▁{text}"}
        assert tokenizer.decode(ids) == text


def test_the_same_text_gives_the_same_bytes(tokenizer):
    assert Tokenizer.train(iter(SENTENCES), 330).sha256 == tokenizer.sha256
    assert Tokenizer.train(SENTENCES, 331).sha256 != tokenizer.sha256


def test_a_saved_tokenizer_is_the_same(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.model"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.sha256 == tokenizer.sha256
    assert loaded.encode("Das Tier ☃") == tokenizer.encode("Das Tier ☃")
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.model"]


@pytest.mark.parametrize("content", [b"", b"\0", b"hello world, this is not a model", b"\xff" * 100])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^The tokenizer {re.escape(str(path))} is no SentencePiece model; allowed"):
        Tokenizer.load(path)


def test_half_a_model_is_refused(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.model"
    tokenizer.save(path)
    path.write_bytes(path.read_bytes()[:1_000])
    with pytest.raises(ValueError, match=r"^The tokenizer .*tokenizer\.model is no SentencePiece model; allowed"):
        Tokenizer.load(path)


def test_a_model_that_numbers_special_pieces_otherwise_is_refused(tmp_path):
    path = tmp_path / "foreign.model"
    path.write_bytes(foreign_model())
    with pytest.raises(
        ValueError, match=r"numbers pad, unk, bos and eos \(-1, 0, 1, 2\); allowed is \(0, 1, 2, 3\)\.$"
    ):
        Tokenizer.load(path)


def test_a_model_that_would_lose_text_is_refused(tmp_path):
    path = tmp_path / "foreign.model"
    path.write_bytes(foreign_model(pad_id=0, unk_id=1, bos_id=2, eos_id=3))
    with pytest.raises(ValueError, match=r"foreign\.model has no pieces for bytes; allowed is"):
        Tokenizer.load(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"^The tokenizer .*nothing\.model cannot be read: No such file or directory\.$"
    ):
        Tokenizer.load(tmp_path / "nothing.model")
