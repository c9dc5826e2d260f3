"""RoPE and ALiBi, which add nothing to a word: what each does to the scores of a query and its keys."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given
from ui.relative_figures import alibi_figure, rope_figure

HEADS = (4, 8, 12)


def relative() -> Given:
    first, second, third, fourth = st.columns(4, gap="medium")
    query = first.slider("The query stands at", 0, 30, 8, key="query_at", bind="query-params")
    key = second.slider("The key stands at", 0, 30, 5, key="key_at", bind="query-params")
    together = third.slider("Move both by", 0, 30, 0, key="together", bind="query-params")
    n_heads = fourth.select_slider("Heads of ALiBi", HEADS, 4, key="alibi_heads", bind="query-params")
    st.markdown(
        "Neither adds anything to a word; both act on scores, in self-attention alone. **RoPE turns** query and key, "
        "each by its own position, so only the angle between them counts: move both and it stays. **ALiBi takes off** "
        "a penalty that grows with distance, with another slope m in each head; here both ways, as in an encoder."
    )
    query, key = query + together, key + together
    left, right = st.columns(2, gap="medium")
    left.markdown("**RoPE**: three of the 16 pairs of dimensions of one head")
    right.markdown(f"**ALiBi**: what each of {n_heads} heads adds to scores")
    left.plotly_chart(
        rope_figure(query, key), key="rope_chart", alt=f"Query turned to {query}, key to {key}.", config=CHART
    )
    from transformer.model.positions import alibi_slopes

    slopes = list(alibi_slopes(n_heads))
    right.plotly_chart(
        alibi_figure(query, key, slopes),
        key="alibi_chart", alt=f"ALiBi's bias of {n_heads} heads around position {query}.", config=CHART,
    )  # fmt: skip
    keys = np.arange(61)
    return Given(
        f"alibi-{n_heads}-heads",
        {"query_at": query, "heads": n_heads},
        {
            "what ALiBi adds": lambda: [
                {"head": head, "slope": slope, "query": query, "key": at, "added": -slope * abs(at - query)}
                for head, slope in enumerate(slopes)
                for at in keys.tolist()
            ]
        },
        "from transformer.analysis.encodings import frequencies\n"
        "from transformer.model.positions import alibi_slopes\n\n"
        f"({query} - {key}) * frequencies(32)  # RoPE: radians between query and key, pair by pair\n"
        f"[-slope * abs({key} - {query}) for slope in alibi_slopes({n_heads})]  # ALiBi: added to that score, by head",
        {"slopes": np.array(slopes)},
    )
