"""Layers and the whole model against torch.nn's, with our weights copied into them (§3.1)."""

import pytest
import torch
from torch import Tensor, nn

from tests.model.small import copy, copy_layer, largest_difference, small_config, small_model, stirred
from transformer.model import Transformer
from transformer.model.feed_forward import FeedForward
from transformer.model.layers import DecoderLayer, EncoderLayer, PostNorm, PreNorm
from transformer.model.positions import Positions

KINDS = pytest.mark.parametrize(
    ("norm", "activation"), [("post", "relu"), ("post", "gelu"), ("pre", "relu"), ("pre", "gelu")]
)
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=torch.bool)
LATER = torch.ones(5, 5, dtype=torch.bool).triu(1)
"""True where torch's decoder may not look."""


def torch_layer(cls: type[nn.Module], norm: str, activation: str) -> nn.Module:
    """torch's layer of the same size, kept in training mode so that it takes its plain path; it has no dropout."""
    return cls(16, 2, 24, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre")


@KINDS
@pytest.mark.parametrize("masked", [False, True])
def test_encoder_layer_equals_torchs(norm: str, activation: str, masked: bool):
    torch.manual_seed(0)
    config = small_config(norm=norm, activation=activation).resolved()
    ours, theirs = stirred(EncoderLayer(config)), torch_layer(nn.TransformerEncoderLayer, norm, activation)
    copy_layer(ours, theirs)
    x = torch.randn(2, 4, 16)
    mask, hidden = (MASK[:, None, None], ~MASK) if masked else (None, None)
    expected = theirs(x, src_key_padding_mask=hidden)
    assert largest_difference(ours(x, mask, Positions(config)), expected) < 1e-5


@KINDS
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_layer_equals_torchs(norm: str, activation: str, masked: bool):
    torch.manual_seed(0)
    config = small_config(norm=norm, activation=activation).resolved()
    ours, theirs = stirred(DecoderLayer(config)), torch_layer(nn.TransformerDecoderLayer, norm, activation)
    copy_layer(ours, theirs)
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 4, 16)
    mask, hidden = (MASK[:, None, None], ~MASK) if masked else (None, None)
    expected = theirs(x, memory, tgt_mask=LATER, memory_key_padding_mask=hidden)
    assert largest_difference(ours(x, memory, mask, Positions(config)), expected) < 1e-5


def torch_transformer(ours: Transformer) -> nn.Transformer:
    """torch's model with our weights; its post-norm stacks end in a LayerNorm that the paper does not have."""
    config = ours.config
    theirs = nn.Transformer(
        16, 2, len(ours.encoder), len(ours.decoder), 24, dropout=0.0, activation=config.activation,
        batch_first=True, norm_first=config.norm == "pre",
    )  # fmt: skip
    for stack, other, norm in (
        (ours.encoder, theirs.encoder, ours.encoder_norm),
        (ours.decoder, theirs.decoder, ours.decoder_norm),
    ):
        for layer, torchs in zip(stack, other.layers, strict=True):
            copy_layer(layer, torchs)
        if config.norm == "pre":
            copy(norm, other.norm)
        else:
            other.norm = None
    return theirs


@KINDS
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_the_whole_model_equals_torchs_with_gradients(norm: str, activation: str):
    ours = small_model(norm=norm, activation=activation)
    theirs = torch_transformer(ours)
    source = torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]])
    target_in = torch.tensor([[2, 9, 10, 11, 12], [2, 13, 14, 15, 16]])

    def embed(ids: Tensor) -> Tensor:
        position = torch.arange(ids.shape[1], dtype=torch.float64)[:, None]
        angle = position / 10_000 ** (torch.arange(0, 16, 2, dtype=torch.float64) / 16)
        encoding = torch.zeros(ids.shape[1], 16, dtype=torch.float64)
        encoding[:, 0::2], encoding[:, 1::2] = angle.sin(), angle.cos()
        return nn.functional.embedding(ids, ours.source_embedding.weight) * 4 + encoding.float()

    hidden = theirs(
        embed(source), embed(target_in), tgt_mask=LATER, src_key_padding_mask=source == 0,
        memory_key_padding_mask=source == 0,
    )  # fmt: skip
    expected = hidden @ ours.source_embedding.weight.T
    logits = ours(source, target_in)
    assert largest_difference(logits, expected) < 1e-5
    weight = ours.source_embedding.weight
    (mine,) = torch.autograd.grad(logits.square().mean(), weight)
    (torchs,) = torch.autograd.grad(expected.square().mean(), weight)
    assert largest_difference(mine, torchs) < 1e-5


def test_feed_forward_is_what_a_hand_computes():
    """max(0, x W₁ + b₁) W₂ + b₂ on one number in, two inside (Equation 2)."""
    ours = FeedForward(small_config(d_model=2, d_ff=2, n_heads=1))
    with torch.no_grad():
        ours.inner.weight.copy_(torch.tensor([[1.0, 2], [-1, 0]]))
        ours.inner.bias.copy_(torch.tensor([0.5, 0.5]))
        ours.outer.weight.copy_(torch.tensor([[1.0, 1], [0, 2]]))
        ours.outer.bias.copy_(torch.tensor([0.0, 1]))
    assert ours(torch.tensor([[[1.0, 3]]])).tolist() == [[[7.5, 1.0]]], "the second inner number, -0.5, is cut to 0"


@pytest.mark.parametrize(("residual", "place"), [(PostNorm, "after the sum"), (PreNorm, "before the sub-layer")])
def test_norms_stand_where_they_should(residual: type[PostNorm], place: str):
    layer, x = stirred(residual(small_config())), torch.randn(2, 3, 16)
    expected = layer.norm(x + x * 2) if place == "after the sum" else x + layer.norm(x) * 2
    assert torch.allclose(layer(x, lambda y: y * 2), expected, atol=1e-6)


def test_post_norm_has_no_norm_after_the_last_layer_and_pre_norm_has():
    post, pre = small_model(norm="post"), small_model(norm="pre")
    assert not list(post.encoder_norm.parameters())
    assert not list(post.decoder_norm.parameters())
    for norm in (pre.encoder_norm, pre.decoder_norm):
        assert isinstance(norm, nn.LayerNorm)
    assert pre.n_parameters - post.n_parameters == 2 * 2 * 16


def count_norms(model: Transformer) -> int:
    return sum(isinstance(module, nn.LayerNorm) for module in model.modules())


def test_the_base_models_depth_has_30_layer_norms():
    """Two in each of 6 encoder layers, three in each of 6 decoder layers; not 24, as is said elsewhere."""
    assert count_norms(Transformer(small_config(n_encoder_layers=6, n_decoder_layers=6))) == 30
    assert count_norms(Transformer(small_config(n_encoder_layers=6, n_decoder_layers=6, norm="pre"))) == 32


@pytest.mark.parametrize("n_layers", [1, 3])
def test_post_norm_output_has_mean_0_and_variance_1_at_the_start(n_layers: int):
    torch.manual_seed(0)
    model = Transformer(small_config(n_encoder_layers=n_layers, n_decoder_layers=n_layers)).eval()
    memory = model.encode(torch.tensor([[5, 6, 7, 3]]))
    for hidden in (memory, model.decode(torch.tensor([[2, 8, 9]]), memory)):
        assert hidden.mean(-1).abs().max() < 1e-5
        assert (hidden.var(-1, unbiased=False) - 1).abs().max() < 1e-3
