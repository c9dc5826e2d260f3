"""CTranslate2, an independent implementation in C++, finds what our search finds with the same trained weights."""

from pathlib import Path

import pytest

from benchmarks.ctranslate import save_as_ctranslate2
from transformer import load_checkpoint
from transformer.decoding.search import beam_search

SENTENCES = {
    "everyday-en-de": (
        "Where is the nearest train station?",
        "I know the woman who bought the house.",
        "She has been learning German for three years.",
        "Tom didn't want to wait any longer.",
    ),
    "reverse": ("a b c d e f g h", "r o u n d t a b l e", "z z y"),
}


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("beam", [1, 4])
def test_same_best_target_and_log_probability(name: str, beam: int, tmp_path: Path):
    """Without a length penalty, which the two define differently; ends of sentences included."""
    ctranslate2 = pytest.importorskip("ctranslate2", reason="pip install '.[test]' brings it")
    checkpoint = load_checkpoint(name)
    save_as_ctranslate2(checkpoint.model, tmp_path / "model")
    translator = ctranslate2.Translator(str(tmp_path / "model"), "cpu", compute_type="float32", intra_threads=1)
    sources = [checkpoint.tokenizer.encode(sentence) for sentence in SENTENCES[name]]
    theirs = translator.translate_batch(
        [list(map(str, source)) for source in sources], beam_size=beam, length_penalty=0, return_scores=True
    )
    ours = beam_search(checkpoint.model, sources, beam=beam, alpha=0)
    for (found, *_), result in zip(ours, theirs, strict=True):
        assert list(found.tokens[:-1]) == list(map(int, result.hypotheses[0]))
        assert found.log_prob == pytest.approx(result.scores[0], abs=1e-3)
