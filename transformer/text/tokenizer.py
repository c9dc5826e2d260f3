"""One SentencePiece vocabulary for both languages: byte-pair encoding with byte fallback (§5.1)."""

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Self

import sentencepiece

from transformer.folders import replacing

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
"""The pieces of the ids PAD, UNK, BOS and EOS. Text that reads like one of them is never encoded to it."""

LONGEST_SENTENCE = 2**30  # bytes; SentencePiece's own default of 4,192 silently loses longer sentences
RESERVED = "\u2585"  # SentencePiece skips a whole training sentence that holds this character


class Tokenizer:
    """Text to ids and back.

    `decode(encode(text)) == text` for every text without U+2581 (▁), SentencePiece's own sign for a space; that sign
    comes back as a space. Tried and found to return unchanged: leading, trailing, repeated and sole spaces, tabs,
    newlines, NUL and other control characters, text that reads like a special or a byte piece ("</s>", "<0x41>"),
    combining marks and compatibility forms as they were typed, right-to-left text, and emoji joined by U+200D.
    A character outside the vocabulary becomes the bytes of its UTF-8, so no text is ever unknown.
    """

    def __init__(self, model: bytes, origin: str = "The tokenizer model") -> None:
        """Take the serialized SentencePiece model; raises ValueError, naming `origin`, if it is not one of ours."""
        processor = sentencepiece.SentencePieceProcessor()
        try:
            loaded = bool(model) and processor.LoadFromSerializedProto(model)
        except RuntimeError:
            loaded = False
        if not loaded:
            raise ValueError(f"{origin} is no SentencePiece model; allowed is a tokenizer.model written by Roundtable.")
        ids = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if ids != (PAD, UNK, BOS, EOS):
            raise ValueError(f"{origin} numbers pad, unk, bos and eos {ids}; allowed is {(PAD, UNK, BOS, EOS)}.")
        size = processor.get_piece_size()
        if size < EOS + 257 or not all(processor.is_byte(EOS + 1 + byte) for byte in range(256)):
            raise ValueError(f"{origin} has no pieces for bytes; allowed is a model in which no text is unknown.")
        self._model = model
        self._processor = processor

    @classmethod
    def train(cls, sentences: Iterable[str], vocab_size: int) -> Self:
        """Learn a vocabulary of `vocab_size` pieces; the same sentences in the same order give the same bytes.

        Warns once, with both numbers, when the text allows fewer pieces. Raises ValueError when there is no text, or
        when `vocab_size` has no room for the 4 special pieces, the 256 bytes and the letters of the text.
        """
        model = BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=_trainable(sentences),
                model_writer=model,
                model_type="bpe",
                vocab_size=vocab_size,
                hard_vocab_limit=False,
                byte_fallback=True,
                character_coverage=0.9999,
                normalization_rule_name="identity",
                remove_extra_whitespaces=False,
                max_sentence_length=LONGEST_SENTENCE,
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                num_threads=1,  # more would make the order of equally frequent pairs depend on the machine
                minloglevel=2,
            )
        except RuntimeError as error:
            raise ValueError(_why_training_failed(str(error), vocab_size)) from error
        tokenizer = cls(model.getvalue())
        if len(tokenizer) < vocab_size:
            found = f"The text allows a vocabulary of {len(tokenizer)} pieces"
            warnings.warn(f"{found}, not the {vocab_size} wished for.", stacklevel=2)
        return tokenizer

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tokenizer.model; raises ValueError if it cannot be read or is not one of ours."""
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"The tokenizer {path} cannot be read: {error.strerror}.") from error
        return cls(model, origin=f"The tokenizer {path}")

    def save(self, path: str | Path) -> None:
        """Write the tokenizer.model, under a temporary name first."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self._model)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without BOS and EOS; raises ValueError on a lone surrogate, which no UTF-8 can hold."""
        return self._processor.encode(_valid(text))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; special ids are dropped, and bytes that form no character read U+FFFD.

        Raises ValueError for an id outside the vocabulary.
        """
        return self._processor.decode([number for number in self._known(ids) if number > EOS])

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """SentencePiece's own names of `ids`, such as '▁The', '<0xE2>' and '</s>'."""
        return [self._processor.id_to_piece(number) for number in self._known(ids)]

    def __len__(self) -> int:
        return self._processor.get_piece_size()

    @property
    def sha256(self) -> str:
        """Of the serialized model, as `save` writes it."""
        return hashlib.sha256(self._model).hexdigest()

    def _known(self, ids: Sequence[int]) -> list[int]:
        numbers = [int(number) for number in ids]
        for number in numbers:
            if not 0 <= number < len(self):
                raise ValueError(f"The id {number} is not in the vocabulary; allowed is 0 to {len(self) - 1}.")
        return numbers


def _valid(text: str) -> str:
    surrogate = re.search("[\ud800-\udfff]", text)
    if surrogate:
        code, where = ord(surrogate.group()), surrogate.start()
        raise ValueError(f"Character {where} of the text is the lone surrogate U+{code:04X}; allowed is valid Unicode.")
    return text


def _trainable(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield _valid(sentence).replace(RESERVED, " ")


def _why_training_failed(error: str, vocab_size: int) -> str:
    required = re.search(r"smaller than required_chars\. \d+ vs (\d+)", error)
    if required:
        return f"vocab_size is {vocab_size}; with this text allowed is {required[1]} or more, for bytes and letters."
    if "!sentences_.empty()" in error:
        return "The tokenizer has no text to learn from; allowed is at least one sentence that is not empty."
    return f"The tokenizer cannot be trained with a vocabulary of {vocab_size}: SentencePiece says {error.strip()!r}."
