"""What positions do inside a model: parts of the scores, patterns without them, order, and scores by length."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.model.small import SOURCE, TARGET_IN, largest_difference, small_model
from transformer.analysis.by_length import buckets, score_by_length
from transformer.analysis.order import order_effect, shuffled_words, without_positions
from transformer.analysis.score_parts import BIAS, CONTENT, POSITION, ROTATION, ScoreParts, score_parts
from transformer.model import Transformer
from transformer.model.hooks import Capture
from transformer.model.positions import POSITIONS

IDS = [5, 6, 7, 8, 9, 3]
READ = [2, 13, 14, 15]
N_PARTS = {"sinusoidal": 4, "learned": 4, "rope": 2, "alibi": 2, "none": 1}


@pytest.mark.parametrize("encoding", POSITIONS)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("kind", "ids"), [("encoder", IDS), ("decoder", READ)])
def test_parts_sum_to_the_scores_that_hooks_see(encoding: str, norm: str, kind: str, ids: list[int]):
    model, capture = small_model(positions=encoding, norm=norm, d_k=6), Capture(("hook_attn_scores",))
    with torch.no_grad():
        model(torch.tensor([IDS]), torch.tensor([READ]), hooks=[capture])
    found = score_parts(model, ids, kind)
    assert len(found.parts) == N_PARTS[encoding]
    assert np.abs(found.total - capture[f"{kind}.0.hook_attn_scores"][0].numpy()).max() < 1e-5
    shares = found.shares()
    assert sum(shares.values()) == pytest.approx(np.ones(2))


def test_parts_mean_what_they_say():
    """Content · content knows nothing of places, position · position nothing of tokens."""
    model = small_model(positions="sinusoidal")
    straight, turned = score_parts(model, IDS), score_parts(model, IDS[::-1])
    assert np.allclose(straight.parts[CONTENT], turned.parts[CONTENT][:, ::-1, ::-1])
    assert np.allclose(straight.parts[POSITION], turned.parts[POSITION])
    assert ROTATION in score_parts(small_model(positions="rope"), IDS).parts
    assert BIAS in score_parts(small_model(positions="alibi"), IDS).parts


def test_shares_by_hand():
    """Content 0, 2 and position 0, 1: of their variation content has 2/3; row constants do not count."""
    parts = {CONTENT: np.array([[[0.0, 2], [7, 7]]]), POSITION: np.array([[[5.0, 6], [3, 3]]])}
    shares = ScoreParts("encoder", parts, np.ones((2, 2), bool)).shares()
    assert shares[CONTENT].tolist() == pytest.approx([2 / 3])
    assert shares[POSITION].tolist() == pytest.approx([1 / 3])


def test_shares_look_only_at_keys_that_may_be_seen():
    parts = {CONTENT: np.array([[[0.0, 99], [0, 1]]]), POSITION: np.array([[[0.0, -7], [0, 0]]])}
    shares = ScoreParts("decoder", parts, np.tri(2, dtype=bool)).shares()
    assert shares[CONTENT].tolist() == pytest.approx([1])


@pytest.mark.parametrize(
    ("changes", "seen"), [({}, (6, 2)), ({"mixing": "window", "mixing_width": 3}, (3, 2)), ({"causal": False}, (6, 4))]
)
def test_parts_know_what_a_model_may_see(changes: dict, seen: tuple[int, int]):
    """Keys that the second query of 6 in the encoder and of 4 in the decoder may attend to."""
    model = small_model(**changes)
    masks = score_parts(model, IDS).mask, score_parts(model, READ, "decoder").mask
    assert (masks[0][1].sum(), masks[1][1].sum()) == seen


def test_a_head_whose_scores_do_not_vary_has_no_shares():
    shares = ScoreParts("encoder", {CONTENT: np.ones((1, 3, 3))}, np.ones((3, 3), bool)).shares()
    assert shares[CONTENT].tolist() == [0]


@pytest.mark.parametrize("encoding", POSITIONS)
@torch.no_grad()
def test_without_positions_shares_weights_and_leaves_the_model_alone(encoding: str):
    model = small_model(positions=encoding)
    before = model(SOURCE, TARGET_IN)
    bare = without_positions(model)
    assert bare.config == replace(model.config, positions="none")
    assert bare.encoder[0].attention.query.weight.data_ptr() == model.encoder[0].attention.query.weight.data_ptr()
    twin = Transformer(bare.config).eval()
    twin.load_state_dict(bare.state_dict())
    assert torch.equal(bare(SOURCE, TARGET_IN), twin(SOURCE, TARGET_IN))
    assert torch.equal(model(SOURCE, TARGET_IN), before)
    assert (largest_difference(bare(SOURCE, TARGET_IN), before) < 1e-6) == (encoding == "none")


def test_shuffling_moves_whole_words_and_leaves_the_end():
    words = [0, 0, 1, 2, 2, 2, 3]
    order = shuffled_words(words, seed=1)
    assert sorted(order) == list(range(7))
    assert order[-1] == 6
    assert order != list(range(7))
    moved = [words[index] for index in order]
    assert [w for i, w in enumerate(moved) if i == 0 or moved[i - 1] != w] == list(dict.fromkeys(moved))
    assert shuffled_words([0, 1]) == [0, 1]
    assert all(shuffled_words([0, 1, 2], seed) == [1, 0, 2] for seed in range(9))


@pytest.mark.parametrize("encoding", POSITIONS)
def test_order_matters_to_an_encoder_only_with_positions_and_to_a_decoder_always(encoding: str):
    effect = order_effect(small_model(positions=encoding), IDS, [0, 0, 1, 2, 3, 4], seed=2)
    assert effect.encoder.shape == (6,)
    if encoding == "none":
        assert effect.encoder_largest < 1e-5
    else:
        assert effect.encoder_largest > 1e-2
    assert effect.decoder > 1e-3


def test_buckets_cover_every_length_once():
    assert buckets(10, 4) == [(1, 4), (5, 8), (9, 10)]
    assert buckets(3, 5) == [(1, 3)]


def test_scores_by_length_equal_a_count_by_hand():
    model = small_model()
    pairs = [([5, 6], [13, 14]), ([7], [15]), ([8, 9, 10], [16, 17, 18])]
    found = score_by_length(model, pairs, [2, 1, 3], [(1, 2), (3, 3), (4, 9)])
    assert [score.n_pairs for score in found] == [2, 1, 0]
    assert [score.n_tokens for score in found] == [5, 4, 0]
    assert found[2].nll is None
    assert found[2].accuracy is None
    assert found[2].whole is None
    with torch.no_grad():
        logits = model(torch.tensor([[8, 9, 10, 3]]), torch.tensor([[2, 16, 17, 18]]))[0]
    gold = torch.tensor([16, 17, 18, 3])
    nll = torch.nn.functional.cross_entropy(logits, gold)
    assert found[1].nll == pytest.approx(float(nll), abs=1e-5)
    right = logits.argmax(-1) == gold
    assert found[1].accuracy == pytest.approx(float(right[:3].float().mean()))
    assert found[1].whole == float(right.all())
    two = score_by_length(model, pairs[:2], [1, 1], [(1, 1)])[0]
    alone = [score_by_length(model, [pair], [1], [(1, 1)])[0] for pair in pairs[:2]]
    assert two.nll == pytest.approx((3 * alone[0].nll + 2 * alone[1].nll) / 5, abs=1e-5)


def test_accuracy_may_look_at_some_tokens_only():
    model, pairs = small_model(), [([5, 6], [13, 14])]
    nothing = score_by_length(model, pairs, [2], [(1, 2)], judged=lambda gold: gold < 0)[0]
    assert nothing.accuracy is None
    assert nothing.nll is not None


def test_a_learned_table_stops_at_its_last_row_and_says_how_many_pairs_it_left_out():
    """A table of 4 rows takes 3 tokens and the end of the sentence."""
    pairs = [([5] * n, [13] * n) for n in (2, 3, 4, 5)]
    edges = [(1, 3), (4, 5)]
    learned = score_by_length(small_model(positions="learned", max_length=4), pairs, [2, 3, 4, 5], edges)
    assert [(score.n_pairs, score.n_too_long) for score in learned] == [(2, 0), (0, 2)]
    assert learned[1].nll is None
    fixed = score_by_length(small_model(max_length=4), pairs, [2, 3, 4, 5], edges)
    assert [(score.n_pairs, score.n_too_long) for score in fixed] == [(2, 0), (2, 0)]
