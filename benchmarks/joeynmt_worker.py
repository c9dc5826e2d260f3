"""JoeyNMT at work, in an environment of its own: it pins a protobuf that nothing here shares.

Run by benchmarks/joeynmt.py with that environment's Python: a folder as its only argument, then a line in (train or a
beam) for each piece of work, and a line out (JSON) when it is done.
"""

import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from joeynmt.loss import XentLoss
from joeynmt.model import Model, build_model
from joeynmt.search import beam_search, greedy
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward
from joeynmt.vocabulary import Vocabulary
from torch import Tensor, nn

UNK, PAD, BOS, EOS = range(4)


def make_model(shape: dict) -> Model:
    """The shape of ModelConfig in JoeyNMT's words: post-norm, ReLU, all embeddings tied, sinusoidal positions."""
    special = {"unk": UNK, "pad": PAD, "bos": BOS, "eos": EOS}
    vocabulary = Vocabulary(
        [f"piece {number}" for number in range(shape["vocab_size"] - len(special))],
        SimpleNamespace(
            **{f"{name}_token": f"<{name}>" for name in special}, **{f"{name}_id": at for name, at in special.items()},
            sep_token=None, lang_tags=[],
        ),
    )  # fmt: skip
    stack = {
        "type": "transformer", "num_heads": shape["n_heads"], "hidden_size": shape["d_model"],
        "ff_size": shape["d_ff"], "dropout": shape["p_drop"], "layer_norm": "post", "activation": "relu",
        "embeddings": {"embedding_dim": shape["d_model"], "scale": True, "dropout": shape["p_drop"]},
    }  # fmt: skip
    layers = {"encoder": shape["n_encoder_layers"], "decoder": shape["n_decoder_layers"]}
    config = {
        "tied_embeddings": True, "tied_softmax": True, "initializer": "xavier_uniform", "bias_initializer": "zeros",
        "init_gain": 1.0, "embed_initializer": "xavier_uniform", "embed_init_gain": 1.0,
        **{name: {**stack, "num_layers": count} for name, count in layers.items()},
    }  # fmt: skip
    model = build_model(config, vocabulary, vocabulary)
    for module in model.modules():  # dropout on sub-layers' outputs and on embedding + position, and nowhere else
        if isinstance(module, MultiHeadedAttention):
            module.dropout = nn.Identity()
        elif isinstance(module, PositionwiseFeedForward):
            module.pwff_layer[2] = nn.Identity()
    return model


class Training:
    """The optimizer step of joeynmt/training.py on batches made beforehand."""

    def __init__(self, model: Model, batches: list[dict[str, Tensor]], train: dict) -> None:
        self.model, self.batches = model.train(), batches
        self.loss = XentLoss(PAD, train["label_smoothing"])
        model.loss_function = ("crossentropy", train["label_smoothing"])
        betas = (train["beta1"], train["beta2"])
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=betas, eps=train["epsilon"], fused=True)

    def run(self) -> list[float]:
        """A step on each batch; their mean losses, in nats a token."""
        losses = []
        for batch in self.batches:
            total, _, _, _ = self.model(return_type="loss", **batch)
            loss = total / batch["n_tokens"]
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            losses.append(float(loss.detach()))
        return losses


def make_batch(rows: dict[str, list[list[int]]]) -> dict[str, Tensor]:
    source, target_in, target = (torch.tensor(rows[name]) for name in ("source", "target_in", "target_out"))
    mask = source != PAD
    return {
        "src": source, "src_mask": mask[:, None], "src_length": mask.sum(1), "trg_input": target_in, "trg": target,
        "trg_mask": (target != PAD)[:, None], "n_tokens": (target != PAD).sum(),
    }  # fmt: skip


def decode(model: Model, sources: list[list[int]], beam: int) -> list[list[int]]:
    """Targets of as many tokens as a source has."""
    source = torch.tensor(sources)
    mask, length = (source != PAD)[:, None], source.shape[1]
    with torch.no_grad():
        memory, hidden, _, _ = model(return_type="encode", src=source, src_length=mask.sum((1, 2)), src_mask=mask)
        if beam == 1:
            written, _, _ = greedy(mask, length, model, memory, hidden)
        else:
            written, _, _ = beam_search(model, beam, memory, hidden, mask, length, 0.6)
    return written.tolist()


def main(folder: Path) -> None:
    logging.disable(logging.CRITICAL)
    task = json.loads((folder / "task.json").read_text("utf-8"))
    torch.set_num_threads(task["threads"])
    torch.manual_seed(0)
    decoder = make_model(task["shape"]).eval()
    weights = torch.load(folder / "weights.pt", weights_only=True)
    missing, unknown = decoder.load_state_dict(weights, strict=False)
    assert not unknown and all(name.endswith("pe.pe") for name in missing), (missing, unknown)
    trainings = {
        name: Training(make_model(task["shape"]), list(map(make_batch, batches)), task["train"])
        for name, batches in task["batches"].items()
    }
    print("ready", flush=True)
    for line in sys.stdin:
        work = json.loads(line)
        if "train" in work:
            answer: object = trainings[work["train"]].run()
        else:
            answer = decode(decoder, work["sources"], work["beam"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
