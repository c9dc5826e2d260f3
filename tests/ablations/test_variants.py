"""The rows of our Table 3: what each changes, in which order, and where its models lie."""

from dataclasses import asdict

import pytest

from transformer.ablations.differences import differences
from transformer.ablations.position_parts import REAL_TEXT
from transformer.ablations.variants import GROUPS, VARIANTS, chosen
from transformer.config import ConfigError
from transformer.presets import TABLE_3, derive


def preset(name: str):
    return derive(REAL_TEXT, dict(VARIANTS[name].changes))


def test_every_row_of_the_papers_table_has_one_counterpart():
    assert sorted(v.paper for v in VARIANTS.values() if v.paper not in (None, "base")) == sorted(TABLE_3)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "base"])
def test_a_variant_is_the_base_with_its_changes_and_nothing_else(name: str):
    other = preset(name)
    base, values = (asdict(one.model.resolved()) | asdict(one.train) for one in (REAL_TEXT, other))
    changed = {field for field, value in values.items() if value != base[field]}
    assert changed
    assert changed <= set(VARIANTS[name].changes)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("A-h1", (1, 128, 128)), ("A-h2", (2, 64, 64)), ("A-h8", (8, 16, 16)), ("A-h16", (16, 8, 8)),
        ("A-h2-dk32", (2, 32, 32)), ("A-h8-dk32", (8, 32, 32)), ("A-h4-dk64", (4, 64, 64)),
        ("B-dk8", (4, 8, 32)), ("B-dk16", (4, 16, 32)), ("base", (4, 32, 32)), ("C-d256", (4, 64, 64)),
        ("C-d64", (4, 16, 16)), ("unscaled-dk128", (1, 128, 128)), ("twice-dk32", (4, 32, 32)),
    ],
)  # fmt: skip
def test_heads_have_the_widths_of_their_rows(name: str, shape: tuple[int, int, int]):
    model = preset(name).model.resolved()
    assert (model.n_heads, model.d_k, model.d_v) == shape


def test_they_are_trained_in_the_order_that_was_asked_for():
    groups = [variant.group for variant in VARIANTS.values()]
    assert list(dict.fromkeys(groups)) == list(GROUPS) == ["base", *"ABDESCLMPFR"]
    assert groups == sorted(groups, key=list(GROUPS).index)
    assert VARIANTS["base"].seeds == (1, 2, 3, 4, 5)


def test_each_is_measured_against_a_variant_that_is_trained_before_it():
    names = list(VARIANTS)
    for name, variant in VARIANTS.items():
        if name != "base":
            assert names.index(variant.against) < names.index(name)
            assert set(VARIANTS[variant.against].changes) < set(variant.changes)


def test_what_is_looked_at_again_makes_the_same_change_in_what_it_is_measured_against():
    for variant in VARIANTS.values():
        if variant.repeats is not None:
            changes = dict(VARIANTS[variant.against].changes) | dict(VARIANTS[variant.repeats].changes)
            assert variant.changes == changes
            assert (variant.paper, VARIANTS[variant.repeats].against) == (None, "base")


def test_models_of_the_family_of_positions_are_used_again():
    assert VARIANTS["base"].folder(1) == "positions-sinusoidal"
    assert VARIANTS["base"].folder(2) == "table3/base-2"
    assert VARIANTS["E-learned"].folder(1) == "positions-learned"
    assert VARIANTS["no-positions"].folder(1) == "positions-none"
    folders = [variant.folder(seed) for variant in VARIANTS.values() for seed in variant.seeds]
    assert len(set(folders)) == len(folders)


def test_only_takes_names_and_groups():
    assert [variant.name for variant in chosen(["B", "uniform"])] == ["B-dk8", "B-dk16", "uniform"]
    assert chosen([]) == list(VARIANTS.values())
    with pytest.raises(ConfigError, match=r"^--only is 'h1'; allowed is a group, base \| A .*A-h1 .*\.$"):
        chosen(["h1"])


def said(name: str) -> list[str]:
    base, other = REAL_TEXT, preset(name)
    return differences((base.model, base.train), (other.model, other.train))


def test_differences_are_said_in_words():
    assert said("base") == []
    assert said("A-h2") == ["heads 2 (not 4)", "d_k 64 (not 32)", "d_v 64 (not 32)"]
    assert said("B-dk8") == ["d_k 8 (not 32)"]
    assert said("C-ff2048") == ["d_ff 2,048 (not 512)"]
    assert said("pre-no-warmup") == ["normalization, where pre (not post)", "schedule no-warmup (not warmup)"]
    assert said("unscaled-dk32-divided") == [
        "score unscaled (not scaled)",
        "W_Q divided by √d_k at the start yes (not no)",
    ]
    assert said("experts") == ["experts 4 (not 1)"]


def test_a_width_of_mixing_counts_only_where_something_is_mixed_by_it():
    def told(**changes) -> list[str]:
        other = derive(REAL_TEXT, changes)
        return differences((REAL_TEXT.model, REAL_TEXT.train), (other.model, other.train), seeds=False)

    assert told(mixing_width=9, top_experts=3, balance=0.5, keep=1, seed=7) == []
    assert told(mixing="window", mixing_width=9) == [
        "mixing in self-attention window (not softmax)",
        "width of mixing 9 (not 7)",
    ]
