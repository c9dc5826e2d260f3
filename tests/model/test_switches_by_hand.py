"""Each switch against numbers worked out by hand, or against torch."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.model.small import SOURCE, TARGET_IN, small_config, small_model, stirred
from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.feed_forward import Experts, GatedFeedForward, load_balance, swiglu_width
from transformer.model.hooks import Capture, Watch
from transformer.model.layers import RMSNorm
from transformer.model.mixing import ConvolutionMixing, UniformMixing, WindowAttention
from transformer.model.positions import Positions
from transformer.model.scores import SCORES
from transformer.training.loss import balance_loss

Q, K = torch.tensor([[[[3.0, 4]]]]), torch.tensor([[[[1.0, 0], [0, 2]]]])
"""One query and two keys of d_k = 2."""


def score(name: str, q: Tensor = Q, k: Tensor = K) -> Tensor:
    module = SCORES[name](small_config(n_heads=1, d_k=2, d_v=2).resolved())
    if name == "additive":
        with torch.no_grad():
            module.v.copy_(torch.tensor([[1.0, -2]]))
    return module(q, k)


def test_products_by_hand():
    assert score("unscaled").flatten().tolist() == [3, 8]
    assert score("scaled").flatten().tolist() == pytest.approx([3 / math.sqrt(2), 8 / math.sqrt(2)])
    assert score("scaled-twice").flatten().tolist() == [1.5, 4]


def test_cosine_and_qk_norm_by_hand():
    """cos = 3/5 and 4/5; g begins at log2(32² − 32)."""
    assert score("cosine").flatten().tolist() == pytest.approx([0.6, 0.8])
    g = math.log2(992)
    assert score("qk-norm").flatten().tolist() == pytest.approx([0.6 * g, 0.8 * g], rel=1e-5)
    assert score("cosine", Q * 0).flatten().tolist() == [0, 0], "a query of length 0 has no direction"


def test_additive_by_hand():
    """v · tanh(q + k) with v = (1, −2): q + k is (4, 4) and (3, 6)."""
    expected = [math.tanh(4) - 2 * math.tanh(4), math.tanh(3) - 2 * math.tanh(6)]
    assert score("additive").flatten().tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("name", "scale"), [("scaled", 8**-0.5), ("unscaled", 1.0), ("scaled-twice", 1 / 8)])
def test_the_fused_kernel_computes_the_score_that_it_is_told(name: str, scale: float):
    torch.manual_seed(0)
    ours = stirred(MultiHeadAttention(small_config(score=name).resolved()))
    x = torch.randn(2, 5, 16)
    q, k, v = (linear(x).unflatten(-1, (2, 8)).transpose(1, 2) for linear in (ours.query, ours.key, ours.value))
    pattern = (q @ k.transpose(-2, -1) * scale).softmax(-1)
    assert_close(ours(x, x), ours.output((pattern @ v).transpose(1, 2).flatten(2)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("n_heads", [1, 2])
def test_unscaled_with_the_query_divided_is_scaled_at_step_0(n_heads: int):
    def logits(**changes) -> Tensor:
        torch.manual_seed(5)
        return Transformer(small_config(n_heads=n_heads, **changes)).eval()(SOURCE, TARGET_IN)

    divided = logits(score="unscaled", divide_query=True)
    assert_close(divided, logits(), atol=1e-5, rtol=0)
    assert (logits(score="unscaled") - divided).abs().max() > 1e-3


def self_attention(cls: type, **changes):
    torch.manual_seed(0)
    config = small_config(**changes).resolved()
    return stirred(cls(config)), Positions(config)


@pytest.mark.parametrize("causal", [False, True])
def test_uniform_mixing_is_the_mean_of_the_values(causal: bool):
    ours, positions = self_attention(UniformMixing)
    x = torch.randn(2, 4, 16)
    values = ours.value(x)
    mean = values.cumsum(1) / torch.arange(1, 5)[:, None] if causal else values.mean(1, keepdim=True).expand(2, 4, 16)
    assert_close(ours(x, x, positions=positions, causal=causal), ours.output(mean), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("causal", "seen"),
    [
        (False, [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4]]),
        (True, [[0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]),
    ],
)
@pytest.mark.parametrize("cls", [WindowAttention, ConvolutionMixing])
def test_what_a_width_of_3_sees(cls: type, causal: bool, seen: list[list[int]]):
    ours, _ = self_attention(cls, mixing_width=3)
    visible = ours.visible(5, 5, causal=causal)
    assert [row.nonzero().flatten().tolist() for row in visible] == seen
    assert ours.visible(1, 5, 4, causal=causal)[0].tolist() == visible[4].tolist()


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_is_torchs_attention_with_a_band_for_a_mask(causal: bool):
    ours, positions = self_attention(WindowAttention, mixing_width=3)
    x = torch.randn(2, 6, 16)
    q, k, v = (linear(x).unflatten(-1, (2, 8)).transpose(1, 2) for linear in (ours.query, ours.key, ours.value))
    ones = torch.ones(6, 6)
    band = ones.tril(0).triu(-2) if causal else ones.tril(1).triu(-1)
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=band.bool())
    expected = ours.output(z.transpose(1, 2).flatten(2))
    assert_close(ours(x, x, positions=positions, causal=causal), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("causal", [False, True])
def test_a_convolution_is_torchs_and_its_kernel_is_the_pattern(causal: bool):
    """Compared where the kernel lies inside the sentence: torch pads with zeros there, we normalize anew."""
    ours, positions = self_attention(ConvolutionMixing, mixing_width=3)
    x, capture = torch.randn(1, 7, 16), Capture()
    got = ours(x, x, positions=positions, causal=causal, watch=Watch([capture], "decoder", 0))
    kernel = ours.kernel.softmax(-1)
    values = ours.value(x).transpose(1, 2)
    padded = F.pad(values, (2, 0) if causal else (1, 1))
    mixed = F.conv1d(padded, kernel.repeat_interleave(8, 0)[:, None], groups=16).transpose(1, 2)
    inside = slice(2, None) if causal else slice(1, -1)
    assert_close(got[:, inside], ours.output(mixed)[:, inside], atol=1e-5, rtol=0)
    pattern = capture["decoder.0.hook_pattern"]
    first = 2 if causal else 3
    assert_close(pattern[0, :, 4, first : first + 3], kernel, atol=1e-6, rtol=0)
    begin = 1 if causal else 2
    part = ours.kernel[:, 3 - begin :].softmax(-1)
    assert_close(pattern[0, :, 0, :begin], part, atol=1e-6, rtol=0)


def test_rms_norm_by_hand():
    """(3, 4) has the root mean square √12.5."""
    norm = RMSNorm(2)
    assert norm(torch.tensor([3.0, 4])).tolist() == pytest.approx([3 / 12.5**0.5, 4 / 12.5**0.5], abs=1e-5)
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


@pytest.mark.parametrize(("d_ff", "width"), [(512, 344), (2048, 1368), (12, 8), (24, 16), (13, 16), (1, 8)])
def test_swiglus_width_is_two_thirds_rounded_up_to_8(d_ff: int, width: int):
    assert swiglu_width(d_ff) == width
    assert GatedFeedForward(small_config(d_ff=d_ff)).inner.out_features == width


def test_swiglu_by_hand():
    ours = GatedFeedForward(small_config(d_model=2, d_ff=12, n_heads=1))
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.zero_()
        ours.inner.weight[0], ours.gate.weight[0] = torch.tensor([1.0, 0]), torch.tensor([0, 1.0])
        ours.gate.bias[0], ours.outer.weight[1, 0] = 0.5, 2.0
    silu = 3 / (1 + math.exp(-3))
    assert ours(torch.tensor([[3.0, 4]])).flatten().tolist() == pytest.approx([0, 2 * silu * 4.5])


def test_experts_are_a_weighted_sum_of_the_two_likeliest():
    torch.manual_seed(0)
    ours = stirred(Experts(small_config(n_experts=4)))
    x = torch.randn(2, 3, 16)
    got = ours(x)
    for sentence in range(2):
        for row in range(3):
            probability = (ours.router.weight @ x[sentence, row]).softmax(-1)
            best = probability.argsort(descending=True)[:2].tolist()
            total = sum(probability[index] for index in best)
            expected = sum(probability[index] / total * ours.experts[index](x[sentence, row]) for index in best)
            assert_close(got[sentence, row], expected, atol=1e-5, rtol=0)
    assert ours.experts[0].inner.out_features == 12, "half of d_ff"


def test_load_balance_by_hand():
    """Two experts, one chosen by all three rows: 2 · (1 · 0.8 + 0 · 0.2); 1 where both are chosen and likely alike."""
    probability = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    assert load_balance(probability, torch.zeros(3, 1, dtype=torch.long)).item() == pytest.approx(1.6)
    even = torch.full((2, 2), 0.5)
    assert load_balance(even, torch.tensor([[0], [1]])).item() == pytest.approx(1)


def test_the_balance_of_all_layers_is_taken_once_and_only_in_training():
    model = small_model(n_experts=4)
    model(SOURCE, TARGET_IN)
    assert balance_loss(model) == 0
    model.train()(SOURCE, TARGET_IN)
    left = [module.balance for module in model.modules() if isinstance(module, Experts)]
    assert len(left) == 4
    total = balance_loss(model)
    assert total.item() == pytest.approx(sum(float(one.detach()) for one in left))
    total.backward()
    assert model.encoder[0].feed_forward.router.weight.grad.abs().sum() > 0
    assert balance_loss(model) == 0


def test_the_last_position_is_all_that_cross_attention_sees():
    """SOURCE has 6, 3 and 2 tokens: memory at any other place may be anything."""
    model, mask = small_model(memory="last"), (SOURCE != 0)[:, None, None]
    with torch.inference_mode():
        memory = model.encode(SOURCE, mask)
        noise = torch.randn_like(memory)
        for row, last in enumerate((5, 2, 1)):
            noise[row, last] = memory[row, last]
        assert_close(model.decode(TARGET_IN, noise, mask), model.decode(TARGET_IN, memory, mask))
        assert_close(model.decode(TARGET_IN[:1], memory[:1], None), model.decode(TARGET_IN[:1], memory[:1], mask[:1]))
        noise[0, 5] += 1
        assert (model.decode(TARGET_IN, noise, mask) - model.decode(TARGET_IN, memory, mask))[0].abs().max() > 1e-3


def test_a_gru_hands_on_from_left_to_right():
    model = small_model(encoder="gru")
    with torch.inference_mode():
        before = model.encode(SOURCE)
        other = SOURCE.clone()
        other[0, 2] = 33
        changed = (model.encode(other) - before)[0].abs().amax(-1)
    assert (changed[:2] == 0).all()
    assert (changed[2:] > 0).all()
