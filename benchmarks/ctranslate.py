"""Our weights in CTranslate2's form: a peer in decoding, and an independent implementation to be equal to."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import nn

from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.positions import sinusoids
from transformer.text.tokenizer import BOS, EOS, UNK

NAME = "CTranslate2"


def save_as_ctranslate2(model: Transformer, folder: Path) -> None:
    """Write a float32 model that ctranslate2.Translator loads; its tokens are our ids, as text.

    For post-norm models with sinusoids, ReLU and tied embeddings.
    """
    from ctranslate2.specs import Activation, TransformerSpec

    config = model.config
    layers = config.n_encoder_layers, config.n_decoder_layers
    spec = TransformerSpec.from_config(layers, config.n_heads, pre_norm=False, activation=Activation.RELU)
    table = sinusoids(config.max_length, config.d_model).float().numpy()
    embedding = _numpy(model.source_embedding.weight)
    for embeddings in (spec.encoder.embeddings[0], spec.decoder.embeddings):
        embeddings.weight, embeddings.multiply_by_sqrt_depth = embedding, True
    spec.encoder.position_encodings.encodings = spec.decoder.position_encodings.encodings = table
    spec.decoder.projection.weight = embedding
    for ours, theirs in zip(model.encoder, spec.encoder.layer, strict=True):
        _attention(ours.attention, theirs.self_attention, ours.attention_residual)
        _feed_forward(ours, theirs.ffn)
    for ours, theirs in zip(model.decoder, spec.decoder.layer, strict=True):
        _attention(ours.attention, theirs.self_attention, ours.attention_residual)
        _attention(ours.cross, theirs.attention, ours.cross_residual, to_source=True)
        _feed_forward(ours, theirs.ffn)
    tokens = list(map(str, range(config.vocab_size)))
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = str(UNK), str(BOS), str(EOS)
    spec.config.decoder_start_token, spec.config.add_source_eos = str(BOS), True
    spec.config.layer_norm_epsilon = 1e-5
    folder.mkdir()
    spec.validate()
    spec.save(str(folder))


def ctranslate2_decode(model: Transformer, folder: Path) -> Callable[[Sequence[Sequence[int]], int], list[list[int]]]:
    """Sources without EOS and a beam, to targets of as many tokens as a source has with EOS."""
    from ctranslate2 import Translator

    save_as_ctranslate2(model, folder)
    translator = Translator(str(folder), "cpu", compute_type="float32", intra_threads=torch.get_num_threads())

    def decode(sources: Sequence[Sequence[int]], beam: int) -> list[list[int]]:
        length = len(sources[0]) + 1
        found = translator.translate_batch(
            [list(map(str, source)) for source in sources], beam_size=beam, length_penalty=0.6,
            max_decoding_length=length, min_decoding_length=length, max_batch_size=len(sources),
        )  # fmt: skip
        return [list(map(int, one.hypotheses[0])) for one in found]

    return decode


def _attention(ours: MultiHeadAttention, theirs, residual: nn.Module, to_source: bool = False) -> None:
    """Their first linear layer is ours for query, key and value in one; to the source, for the query alone."""
    grouped = [[ours.query], [ours.key, ours.value]] if to_source else [[ours.query, ours.key, ours.value]]
    for linear, group in zip(theirs.linear, [*grouped, [ours.output]], strict=True):
        linear.weight = _numpy(torch.cat([layer.weight for layer in group]))
        linear.bias = _numpy(torch.cat([layer.bias for layer in group]))
    _norm(residual, theirs.layer_norm)


def _feed_forward(ours, theirs) -> None:
    for layer, linear in ((ours.feed_forward.inner, theirs.linear_0), (ours.feed_forward.outer, theirs.linear_1)):
        linear.weight, linear.bias = _numpy(layer.weight), _numpy(layer.bias)
    _norm(ours.feed_forward_residual, theirs.layer_norm)


def _norm(residual, theirs) -> None:
    theirs.gamma, theirs.beta = _numpy(residual.norm.weight), _numpy(residual.norm.bias)


def _numpy(weight: torch.Tensor):
    return weight.detach().float().contiguous().numpy()
