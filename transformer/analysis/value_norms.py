"""How long the vectors are that attention mixes: ‖f(xⱼ)‖ of Kobayashi et al. (2020), exact for each head."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float32

from transformer.analysis.attention import Kind, Tokens
from transformer.analysis.retrace import piece_ids
from transformer.model.hooks import Capture

if TYPE_CHECKING:
    from transformer.checkpoint import Checkpoint


def value_norms(
    checkpoint: "Checkpoint", source: Tokens, read: Tokens | None = None
) -> dict[Kind, Float32[np.ndarray, "layer head key"]]:
    """Length of f(xⱼ) = (xⱼ W_V + b_V) W_O for each key, with the head's own d_v rows of W_O; its bias is no head's.

    What a query takes from a key is its weight times that vector, so that weight × length says how much it takes.
    `source` is trace.source, `read` is trace.decoder.keys; without it only the encoder is measured.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    ids = [torch.tensor([piece_ids(tokenizer, side.pieces)], device=model.device) for side in (source, read) if side]
    capture = Capture(("hook_v",))
    with torch.inference_mode():
        memory = model.encode(ids[0], hooks=[capture])
        layers: dict[Kind, list] = {"encoder": [layer.attention for layer in model.encoder]}
        if read is not None:
            model.decode(ids[1], memory, hooks=[capture])
            layers["decoder"] = [layer.attention for layer in model.decoder]
            layers["cross"] = [layer.cross for layer in model.decoder]
        norms = {}
        for kind, modules in layers.items():
            each = []
            for number, module in enumerate(modules):
                values = capture[f"{kind}.{number}.hook_v"][0].float()  # (head, key, d_v)
                outward = module.output.weight.float().unflatten(-1, (module.n_heads, -1))  # (d_model, head, d_v)
                each.append(torch.einsum("hkv,mhv->hkm", values, outward).norm(dim=-1))
            norms[kind] = torch.stack(each).cpu().numpy()
    return norms
