"""From a checkpoint and a sentence to a Trace: one forward pass with a hook at every head."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32

from transformer.analysis.attention import Attention, Kind, Tokens
from transformer.analysis.interventions import Intervention
from transformer.analysis.trace import Trace, Translation
from transformer.decoding.search import NOT_NUMBERS, beam_search, length_penalty
from transformer.model.hooks import HOOK_NAMES, Capture, Hook
from transformer.model.layers import DecoderLayer, EncoderLayer
from transformer.model.transformer import Transformer
from transformer.text.tokenizer import BOS, EOS, SPECIAL_PIECES, Tokenizer
from transformer.text.words import display_pieces, group_words

if TYPE_CHECKING:
    from transformer.checkpoint import Checkpoint

_TRACED = ("hook_attn_scores", "hook_pattern")


def trace_encoder(checkpoint: "Checkpoint", sentence: str, interventions: Sequence[Hook] = ()) -> Attention:
    """The encoder's attention alone, which needs no target. Raises ValueError for a text the model cannot take."""
    _check_encoder(checkpoint)
    source = _encode(checkpoint.tokenizer, sentence, "sentence")
    capture = Capture(_TRACED)
    _check(interventions, checkpoint)
    with torch.inference_mode():
        checkpoint.model.encode(_row(source, checkpoint.model), hooks=[*interventions, capture])
    return _encoder(capture, checkpoint, _tokens(checkpoint.tokenizer, source))


def trace_pair(
    checkpoint: "Checkpoint", sentence: str, target: str | None = None, interventions: Sequence[Hook] = ()
) -> Trace:
    """The trace of a sentence and its target, by default the model's own translation (beam 4, α = 0.6).

    Patterns come from one teacher-forced pass over the finished target, end of sentence included.
    Raises ValueError, in one sentence, for a text that the model cannot take.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    _check(interventions, checkpoint)
    source = _encode(tokenizer, sentence, "sentence")
    if target is None:
        best = beam_search(model, [source[:-1]], beam=4, hooks=interventions)[0][0]
        written = [piece for piece in best.tokens if piece != EOS]
        if model.config.positions == "learned":
            written = written[: model.config.max_length - 1]  # a target cut off at the last row leaves none for its end
        written.append(EOS)
        text = tokenizer.decode(written)
    else:
        written, text = _encode(tokenizer, target, "target"), target
    generated = target is None
    trace = trace_ids(checkpoint, (sentence, text), source, written, generated=generated, interventions=interventions)
    # The fused attention of the search may pass over a NaN that the explicit one shows.
    if generated and math.isnan(trace.translation.log_prob):
        raise ValueError(NOT_NUMBERS)
    return trace


def trace_ids(
    checkpoint: "Checkpoint",
    texts: tuple[str, str],
    source: Sequence[int],
    written: Sequence[int],
    *,
    generated: bool,
    interventions: Sequence[Hook] = (),
) -> Trace:
    """The trace of a source and a target as ids, both with EOS; `texts` are the two as a person reads them."""
    _check_encoder(checkpoint)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    sentence, text = texts
    read = [BOS, *written[:-1]]
    capture = Capture(_TRACED)
    with torch.inference_mode():
        logits = _logits(model, source, read, [*interventions, capture])
        chosen = logits.float().log_softmax(-1).gather(1, torch.tensor(written, device=model.device)[:, None])
    log_probs = tuple(chosen.squeeze(1).tolist())
    source_tokens, read_tokens = _tokens(tokenizer, source), _tokens(tokenizer, read)
    sides = {"queries": _tokens(tokenizer, written), "read": read_tokens}
    cross = np.ones((len(read), len(source)), bool)
    if model.config.memory == "last":
        cross[:, :-1] = False
    return Trace(
        model=checkpoint.name,
        step=checkpoint.config.step,
        source_text=sentence,
        translation=Translation(text, generated, log_probs, sum(log_probs) / length_penalty(len(written), 0.6)),
        encoder=_encoder(capture, checkpoint, source_tokens),
        decoder=_attention(
            "decoder", capture, checkpoint, mask=_visible(model, "decoder", len(read)), keys=read_tokens, **sides
        ),
        cross=_attention("cross", capture, checkpoint, mask=cross, keys=source_tokens, **sides),
        _replay=partial(_everything, model, source, read, tuple(interventions)),
    )


def _check(interventions: Sequence[Hook], checkpoint: "Checkpoint") -> None:
    for intervention in interventions:
        if isinstance(intervention, Intervention):
            intervention.check(checkpoint.model.config)


def _encode(tokenizer: Tokenizer, text: str, name: str) -> list[int]:
    if not text.strip():
        raise ValueError(f"The {name} is empty; type at least one word.")
    return [*tokenizer.encode(text), EOS]


def _row(ids: Sequence[int], model: Transformer) -> torch.Tensor:
    return torch.tensor([ids], device=model.device)


def _logits(
    model: Transformer, source: Sequence[int], read: Sequence[int], hooks: Sequence[Hook]
) -> Float[torch.Tensor, "query vocab"]:
    """Of one pair, which has no padding and needs no mask for it."""
    memory = model.encode(_row(source, model), hooks=hooks)
    return model.projection(model.decode(_row(read, model), memory, hooks=hooks))[0]


def _tokens(tokenizer: Tokenizer, ids: Sequence[int]) -> Tokens:
    pieces = tokenizer.pieces(ids)
    special = tuple(piece in SPECIAL_PIECES for piece in pieces)
    return Tokens(tuple(pieces), tuple(display_pieces(pieces)), tuple(group_words(pieces)), special)


def _stack(capture: Capture, kind: Kind, name: str, n_layers: int) -> Float32[np.ndarray, "layer head query key"]:
    return torch.cat([capture[f"{kind}.{layer}.{name}"] for layer in range(n_layers)]).float().cpu().numpy()


def _attention(kind: Kind, capture: Capture, checkpoint: "Checkpoint", **sides) -> Attention:
    config = checkpoint.model.config
    n_layers = config.n_encoder_layers if kind == "encoder" else config.n_decoder_layers
    pattern, scores = (_stack(capture, kind, name, n_layers) for name in ("hook_pattern", "hook_attn_scores"))
    return Attention(kind=kind, pattern=pattern, scores=scores, **sides)


def _encoder(capture: Capture, checkpoint: "Checkpoint", tokens: Tokens) -> Attention:
    mask = _visible(checkpoint.model, "encoder", len(tokens))
    return _attention("encoder", capture, checkpoint, mask=mask, queries=tokens, keys=tokens)


def _visible(model: Transformer, kind: Kind, n: int) -> Bool[np.ndarray, "query key"]:
    """True where self-attention may look: all, what comes before, or what is near."""
    layer = (model.encoder if kind == "encoder" else model.decoder)[0]
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    return layer.attention.visible(n, n, causal=kind == "decoder" and model.config.causal).cpu().numpy()


def _check_encoder(checkpoint: "Checkpoint") -> None:
    if checkpoint.model.config.encoder == "gru":
        raise ValueError(f"{checkpoint.name} reads with gated recurrent units, which have no heads to look at.")


def _everything(
    model: Transformer, source: Sequence[int], read: Sequence[int], interventions: Sequence[Hook]
) -> Mapping[str, np.ndarray]:
    capture = Capture(HOOK_NAMES)
    with torch.inference_mode():
        _logits(model, source, read, [*interventions, capture])
    return {name: value[0].float().cpu().numpy() for name, value in capture.values.items()}
