"""Sentences per second, greedy and with a beam of 4: our search and the peers', with the same weights.

No contestant can end early: every target has as many tokens as the source, so that the work is equal.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks import ctranslate, joeynmt
from benchmarks.peers import marian_with_weights_of
from benchmarks.table import OURS, Row
from benchmarks.timing import interleaved
from benchmarks.work import SHAPE, equal_pairs
from transformer.decoding.search import beam_search
from transformer.model import Transformer
from transformer.text.batches import pad
from transformer.text.tokenizer import BOS, EOS, PAD, UNK

N_TOKENS = 20

Sources = list[list[int]]
Decode = Callable[[Sources, int], list[list[int]]]
"""Sources without EOS and a beam, to targets of as many tokens as a source has with EOS."""


def endless_model() -> Transformer:
    """Random weights that never write a special token: their embeddings are 0, and so are, when tied, their logits.

    Sub-layers are drawn wider than training would begin with, or each step would only repeat the token it read.
    """
    torch.manual_seed(0)
    model = Transformer(SHAPE).eval()
    with torch.no_grad():
        for stack in (model.encoder, model.decoder):
            for parameter in stack.parameters():
                parameter.mul_(4 if parameter.ndim == 2 else 1)
        model.projection.weight[[PAD, UNK, BOS, EOS]] = 0
    return model


def our_decode(model: Transformer) -> Decode:
    def decode(sources: Sources, beam: int) -> list[list[int]]:
        found = beam_search(model, sources, beam=beam, max_extra=0, batch_size=len(sources))
        return [list(hypotheses[0].tokens) for hypotheses in found]

    return decode


def marian_decode(model: Transformer) -> Decode:
    theirs = marian_with_weights_of(model)
    penalty = {"length_penalty": 0.6}

    def decode(sources: Sources, beam: int) -> list[list[int]]:
        source = pad([[*ids, EOS] for ids in sources])
        with torch.inference_mode():
            found = theirs.generate(
                input_ids=source, attention_mask=(source != PAD).long(), num_beams=beam, do_sample=False,
                max_new_tokens=source.shape[1], use_cache=True, **(penalty if beam > 1 else {}),
            )  # fmt: skip
        return [row[1:] for row in found.tolist()]

    return decode


DECODERS: dict[str, Callable[[Transformer], Decode]] = {OURS: our_decode, "HF generate": marian_decode}


def rows() -> list[Row]:
    """Sentences per second on sources of 20 tokens, 64 in one batch and one at a time, as an app translates them."""
    model = endless_model()
    sources = [source for source, _ in equal_pairs(64, N_TOKENS, SHAPE.vocab_size)]
    made = []
    with TemporaryDirectory() as folder, joeynmt.started(model, Path(folder)) as joey:
        decoders = {name: make(model) for name, make in DECODERS.items()}
        decoders[ctranslate.NAME] = ctranslate.ctranslate2_decode(model, Path(folder) / "ctranslate2")
        if joey is not None:
            decoders[joeynmt.NAME] = joey.decode
        for beam, what in ((1, "greedy"), (4, "beam of 4")):
            for n_sentences in (64, 1):
                works = {name: partial(decode, sources[:n_sentences], beam) for name, decode in decoders.items()}
                seconds = interleaved(works, repetitions=5)
                rates = {name: n_sentences / value for name, value in seconds.items()}
                made += _rows(f"{what}, {n_sentences} × {N_TOKENS} tokens, sentences/s", rates)
    return made


def _rows(what: str, rates: dict[str, float]) -> list[Row]:
    """A row for each peer: they are written in different languages, and their budgets differ."""
    engine = rates[ctranslate.NAME] / rates["HF generate"]
    whys = {
        "HF generate": f"the products are the same; even {ctranslate.NAME}, all C++, is {engine:.1f} × HF generate.",
        ctranslate.NAME: "it fuses small operations and runs no Python; ours calls torch well over 100 times a step.",
    }
    budgets = {ctranslate.NAME: 0.8}
    peers = [name for name in rates if name != OURS]
    return [
        Row.race(what, {OURS: rates[OURS], name: rates[name]}, budgets.get(name, 3.0), whys.get(name, ""))
        for name in peers
    ]
