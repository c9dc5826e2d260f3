"""What holds for every switch: it trains, it can be watched, and it decodes with a cache as without one."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from tests.model.small import SOURCE, TARGET_IN, small_config, small_model
from tests.model.switches import SWITCHES
from tests.training.small import learn, reversals, trainer
from transformer.config import ConfigError, ModelConfig
from transformer.decoding.cache import KeyValueCache
from transformer.decoding.search import beam_search
from transformer.model import Transformer
from transformer.model.hooks import Capture
from transformer.model.transformer import source_mask
from transformer.text.tokenizer import BOS, EOS
from transformer.weights import read_weights

every_switch = pytest.mark.parametrize("changes", SWITCHES.values(), ids=list(SWITCHES))


@every_switch
def test_gradients_are_finite_beside_an_empty_row_and_long_padding(changes: dict):
    model = small_model(**changes).train()
    source = torch.cat((SOURCE, torch.zeros_like(SOURCE[:1])))
    source = torch.cat((source, torch.zeros(4, 12, dtype=torch.long)), 1)
    logits = model(source, torch.cat((TARGET_IN, TARGET_IN[:1])))
    logits.square().mean().backward()
    assert logits.isfinite().all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, f"{name} has no gradient"
        assert parameter.grad.isfinite().all(), name


@every_switch
def test_logits_are_the_same_watched_and_unwatched_and_rows_sum_to_1(changes: dict):
    model, capture = small_model(**changes), Capture()
    with torch.inference_mode():
        assert_close(model(SOURCE, TARGET_IN, [capture]), model(SOURCE, TARGET_IN), atol=1e-5, rtol=0)
    for kind in ("encoder", "decoder", "cross"):
        if (kind, changes.get("encoder")) == ("encoder", "gru"):
            continue
        pattern = capture[f"{kind}.1.hook_pattern"]
        scores = capture[f"{kind}.1.hook_attn_scores"]
        real = (SOURCE if kind == "encoder" else TARGET_IN) != 0
        assert pattern.shape == scores.shape
        assert_close(pattern.sum(-1).transpose(1, 2)[real], torch.ones(int(real.sum()), 2), atol=1e-5, rtol=0)
        if kind != "decoder":
            assert not pattern.transpose(1, 3)[SOURCE == 0].any(), "padding gets weight"


@every_switch
def test_padding_changes_nothing(changes: dict):
    model = small_model(**changes)
    with torch.inference_mode():
        together = model(SOURCE, TARGET_IN)
        alone = model(SOURCE[1:2, :3], TARGET_IN[1:2, :3])
    assert_close(together[1:2, :3], alone, atol=1e-5, rtol=0)


@every_switch
def test_no_target_position_sees_those_after_it(changes: dict):
    model = small_model(**changes)
    other = TARGET_IN.clone()
    other[:, 3:] = 30
    with torch.inference_mode():
        before, after = model(SOURCE, TARGET_IN)[:, :3], model(SOURCE, other)[:, :3]
    assert_close(after, before, atol=1e-6, rtol=0)


@every_switch
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1), (2, 3)])
def test_cached_steps_equal_the_whole_also_reordered(changes: dict, chunks: tuple[int, ...]):
    model, mask, order = small_model(**changes), source_mask(SOURCE), torch.tensor([2, 0, 1])
    cache = KeyValueCache(len(model.decoder))
    with torch.inference_mode():
        memory = model.encode(SOURCE, mask)
        steps = [model.decode(part, memory, mask, cache=cache) for part in TARGET_IN.split(chunks, dim=1)]
        assert_close(torch.cat(steps, 1), model.decode(TARGET_IN, memory, mask), atol=1e-5, rtol=0)
        cache.select(order)
        cache.select_sentences(order)
        more = torch.tensor([[7], [8], [9]])
        step = model.decode(more, memory[order], mask[order], cache=cache)
        whole = model.decode(torch.cat((TARGET_IN[order], more), 1), memory[order], mask[order])
    assert_close(step, whole[:, 5:], atol=1e-5, rtol=0)


@every_switch
def test_beam_scores_are_teacher_forced_sums_and_one_by_one_is_together(changes: dict):
    model = small_model(**changes)
    sources = [[7, 9, 4], [12], [5, 6, 7, 8, 9, 10, 11]]
    together = beam_search(model, sources, beam=3, max_extra=8)
    for source, (best, *_) in zip(sources, together, strict=True):
        assert beam_search(model, [source], beam=3, max_extra=8)[0][0].tokens == best.tokens
        with torch.inference_mode():
            logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *best.tokens[:-1]]]))[0]
        given = logits.log_softmax(-1).gather(1, torch.tensor(best.tokens)[:, None]).squeeze(1)
        assert list(best.token_log_probs) == pytest.approx(given.tolist(), abs=1e-4)


@every_switch
def test_twenty_pairs_are_learned_by_heart(tmp_path: Path, changes: dict):
    pairs = reversals(20, longest=4)
    run = trainer(
        tmp_path, pairs, pairs, {"d_model": 32, "d_ff": 64, "n_heads": 4, **changes}, steps=400, batch_tokens=200,
        warmup=60, label_smoothing=0.0, save_every=1000, log_every=400, validate_every=20,
    )  # fmt: skip
    assert learn(run, 0.1) < 0.1


@every_switch
def test_stopped_and_resumed_it_ends_bit_for_bit_the_same(tmp_path: Path, changes: dict):
    whole, parts, model = tmp_path / "whole", tmp_path / "parts", {"p_drop": 0.2, **changes}
    assert trainer(whole, model=model, steps=6).run()
    stopped = trainer(parts, model=model, steps=6)
    assert not stopped.run(should_stop=lambda: stopped.progress.step >= 3)
    assert trainer(parts, model=model, steps=6).run()
    weights, expected = (read_weights(folder / "model.safetensors") for folder in (parts, whole))
    assert all(torch.equal(weight, weights[name]) for name, weight in expected.items())


@pytest.mark.parametrize("mixing", ["uniform", "convolution"])
def test_what_compares_nothing_has_no_queries_and_keys(mixing: str):
    names = dict(small_model(mixing=mixing).named_parameters())
    assert not [name for name in names if ".attention.query" in name or ".attention.key" in name]
    assert "encoder.0.attention.value.weight" in names
    assert "decoder.0.cross.query.weight" in names


def test_the_papers_model_keeps_the_names_of_its_weights():
    names = [name for name in small_model().state_dict() if name.startswith("decoder.1.")]
    sublayers = [
        f"{part}.{linear}" for part in ("attention", "cross") for linear in ("query", "key", "value", "output")
    ]
    expected = {f"decoder.1.{name}.{kind}" for name in sublayers for kind in ("weight", "bias")}
    expected |= {f"decoder.1.feed_forward.{name}.{kind}" for name in ("inner", "outer") for kind in ("weight", "bias")}
    for part in ("attention", "cross", "feed_forward"):
        expected |= {f"decoder.1.{part}_residual.norm.{kind}" for kind in ("weight", "bias")}
    assert set(names) == expected


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"mixing": "uniform", "positions": "rope"},
            "ModelConfig.positions is 'rope'; allowed is sinusoidal | learned",
        ),
        ({"mixing": "convolution", "positions": "alibi"}, "with mixing 'convolution', which compares no query with a"),
        ({"score": "additive", "positions": "rope"}, "allowed is any but rope with additive scores"),
        ({"score": "cosine", "divide_query": True}, "divide_query is True; allowed is false with score 'cosine'"),
        ({"mixing_width": 4}, "mixing_width is 4; allowed is an odd number"),
        ({"n_experts": 4, "top_experts": 5}, "top_experts is 5; allowed is at most n_experts, which is 4"),
        ({"n_experts": 4, "d_ff": 25}, "d_ff is 25; allowed is a multiple of top_experts = 2"),
        ({"encoder": "gru", "mixing": "window"}, "mixing is 'window'; allowed is 'softmax' with encoder 'gru'"),
    ],
)
def test_switches_that_exclude_each_other_are_refused_in_a_sentence(changes: dict, says: str):
    with pytest.raises(ConfigError) as error:
        small_config(**changes)
    assert says in str(error.value)
    assert str(error.value).endswith(".")


def test_switches_that_mean_nothing_hinder_nothing():
    assert ModelConfig(top_experts=7, n_experts=1).top_experts == 7


def test_forgetting_the_causal_mask_shows_the_next_token_and_decoding_goes_on():
    model = small_model(causal=False)
    other = TARGET_IN.clone()
    other[:, 3:] = 30
    with torch.inference_mode():
        changed = (model(SOURCE, TARGET_IN) - model(SOURCE, other))[:, :3].abs().amax(-1)
        assert (changed > 1e-4).all()
        cache, mask = KeyValueCache(len(model.decoder)), source_mask(SOURCE)
        memory = model.encode(SOURCE, mask)
        lengths = []
        for part in TARGET_IN.split(1, dim=1):
            step = model.decode(part, memory, mask, cache=cache)
            lengths.append(cache.length)
        # The last position sees no more than with the mask, so a single layer of steps agrees there.
        assert step.isfinite().all()
    assert lengths == [1, 2, 3, 4, 5]


def test_old_models_have_the_switches_at_what_they_were_trained_with():
    config = Transformer(small_config()).config
    assert (config.score, config.mixing, config.normalization, config.n_experts) == ("scaled", "softmax", "layer", 1)
    assert (config.causal, config.encoder, config.memory, config.divide_query) == (True, "attention", "all", False)
