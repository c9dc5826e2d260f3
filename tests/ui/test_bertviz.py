"""BertViz's pages as text: what stands in them, what is escaped, what is refused. A browser draws them in tests/e2e."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.ui.samples import asymmetric, attention, random, tokens
from ui.bertviz import _THEMES, LARGEST, _colours, bertviz_frame, bertviz_html
from ui.bertviz_parts import DATA, BertVizError, script, split, template
from ui.theme import to_rgb

HOSTILE = "</script><img src=x onerror=alert(1)><!--"
both_views = pytest.mark.parametrize("view", ["head", "model"])
both_themes = pytest.mark.parametrize("dark", [False, True])


def data(page: str) -> dict:
    return json.JSONDecoder().raw_decode(page.partition(DATA)[2])[0]


@both_views
@both_themes
def test_the_page_asks_nobody_and_holds_its_data_once(view, dark):
    shown = asymmetric()
    page = bertviz_html(shown, view, dark=dark)
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)
    assert page.count('"left_text"') == 1
    assert page.count("</script>") == 4
    assert "default-src 'none'" in page


@both_views
def test_queries_are_left_and_keys_are_right(view):
    (content,) = data(bertviz_html(asymmetric(), view, dark=False))["attention"]
    assert content["left_text"] == ["ja", "nein"]
    assert content["right_text"] == ["yes", "no", "</s>"]
    assert content["attn"] == [[[[1, 0, 0], [0, 1, 0]], [[0.25, 0.75, 0], [0.5, 0.125, 0.375]]]]


@both_views
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_kind_says_which_side_is_which(view, kind):
    page = bertviz_html(replace(asymmetric(), kind=kind), view, dark=False)
    sides = re.search(r"<p>On the left the (query: [^;]+); on the right the (key: [^.]+)\.", page)
    assert sides is not None
    assert ("written" in sides[1]) == (kind != "encoder")


@both_views
def test_weights_have_four_decimals(view):
    third = attention(np.full((1, 1, 2, 3), 1 / 3), tokens("a", "b"), tokens("c", "d", "e"))
    page = bertviz_html(third, view, dark=False)
    assert "[0.3333,0.3333,0.3333]" in page


@both_views
def test_a_token_cannot_close_the_script_or_the_frame(view):
    shown = attention([[[[1.0]]]], tokens(HOSTILE), tokens('"&amp;\u2028'))
    page = bertviz_html(shown, view, dark=False)
    assert "<img" not in page
    assert page.count("</script>") == 4
    assert data(page)["attention"][0]["right_text"] == ['"&amp;U+2028' if view == "head" else '"&amp;U+…']
    frame = bertviz_frame(shown, view, dark=False)
    (source,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert unescape(source) == page
    assert re.findall('<iframe[^>]*?sandbox="([^"]*)"', frame) == ["allow-scripts"]


def test_layers_and_heads_keep_their_names():
    chosen = replace(random(2, 2, 3, 3), layers=("3", "5"), heads=("1", "4"))
    shown = data(bertviz_html(chosen, "model", dark=False))
    assert (shown["include_layers"], shown["include_heads"]) == ([3, 5], ["1", "4"])
    assert data(bertviz_html(chosen, "head", dark=False))["include_layers"] == [3, 5]
    mean = data(bertviz_html(chosen.mean(), "model", dark=False))
    assert mean["include_heads"] == ["mean"]


def test_long_words_are_shortened_to_what_bertviz_has_room_for():
    word = "Donaudampfschifffahrtsgesellschaft"
    shown = attention([[[[1.0]]]], tokens(word), tokens("x"))
    assert data(bertviz_html(shown, "head", dark=False))["attention"][0]["left_text"] == [word[:20] + "…"]
    assert data(bertviz_html(shown, "model", dark=False))["attention"][0]["left_text"] == [word[:8] + "…"]


@both_views
def test_as_many_tokens_as_a_browser_can_draw(view):
    most = LARGEST[view]
    bertviz_html(random(1, 1, most, most), view, dark=False)
    for shape in ((most + 1, 2), (2, most + 1)):
        with pytest.raises(BertVizError, match=f"beyond {most} tokens, and this attention has {most + 1}: [^.]+\\.$"):
            bertviz_html(random(1, 1, *shape), view, dark=False)


def test_as_many_lines_as_a_browser_can_draw():
    with pytest.raises(BertVizError, match=r"beyond 50,000 lines, and this attention has 65,536: [^.]+\.$"):
        bertviz_html(random(1, 16, 64, 64), "head", dark=False)
    with pytest.raises(BertVizError, match=r"beyond 50,000 lines, and this attention has 65,536: [^.]+\.$"):
        bertviz_html(random(8, 8, 32, 32), "model", dark=False)


@both_views
def test_nan_is_refused_by_name(view):
    broken = random(3, 4, 5, 5)
    broken.pattern[2, 1, 3, 0] = np.nan
    with pytest.raises(BertVizError, match=r"^Layer 2, head 1 has weights that are not numbers"):
        bertviz_html(broken, view, dark=False)


@both_views
@pytest.mark.parametrize("shape", [(1, 1, 0, 3), (1, 1, 3, 0), (0, 1, 2, 2)])
def test_nothing_to_draw_is_refused(view, shape):
    nothing = attention(np.zeros(shape), tokens(*"abc"[: shape[2]]), tokens(*"abc"[: shape[3]]))
    with pytest.raises(BertVizError, match="no tokens here"):
        bertviz_html(nothing, view, dark=False)


@both_views
def test_another_template_is_one_clear_error(view):
    page = f"{script_of_require()}<div></div><script>{DATA}{json.dumps(template(view).parameters)}; // x\nrest</script>"
    assert split(page, view).after == "\nrest</script>"
    wrong = [
        page.replace(DATA, "const data = "),
        page.replace('"attention"', '"weights"'),
        page.replace("require.js/2.3.6", "require.js/9"),
        page.replace("; // x", "; draw()"),
        page.replace("<div>", "<script src=more></script><div>"),
        "",
    ]
    for changed in wrong:
        with pytest.raises(
            BertVizError, match=rf"^BertViz [\d.]+ builds its {view} view in a way .* 1\.4\.1 is known\.$"
        ):
            split(changed, view)


def script_of_require() -> str:
    return '<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>'


def test_a_missing_script_is_one_clear_error():
    for package in ("mpld3", "no-such-package"):
        with pytest.raises(BertVizError, match=f"needs js/none.js of the package {package}, which is not there"):
            script(package, "js/none.js")


def test_colours_are_those_of_the_theme():
    config = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    for dark, theme in _THEMES.items():
        section = config.partition(f"[theme.{'dark' if dark else 'light'}]")[2].partition("\n[")[0]
        for name, colour in zip(
            ("textColor", "backgroundColor", "secondaryBackgroundColor", "borderColor"), theme.values(), strict=True
        ):
            assert f'{name} = "{colour}"' in section


@both_themes
def test_words_can_be_read_on_every_head_at_full_weight(dark):
    theme = _THEMES[dark]
    for colour in _colours("cross", "head", dark):
        halved = [(a + b) / 2 for a, b in zip(to_rgb(colour), to_rgb(theme["paper"]), strict=True)]
        assert contrast(halved, to_rgb(theme["ink"])) >= 4.5, colour
    assert contrast(to_rgb(theme["line"]), to_rgb(theme["ink"])) >= 4.5


def contrast(one, other) -> float:
    """Of two colours, as WCAG 2 defines it."""

    def luminance(colour) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@both_views
def test_a_page_of_the_largest_size_stays_small(view):
    """FIELD_NOTES: 8.8 MB as BertViz writes it at 6 × 8 × 64."""
    largest = {"head": random(6, 8, 64, 64), "model": random(6, 8, 32, 32)}[view]
    assert len(bertviz_html(largest, view, dark=True)) < 2_000_000
