"""JoeyNMT as a contestant: a process in an environment of its own, given work line by line."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks.work import TRAIN
from transformer.model import Transformer
from transformer.text.batches import Batch
from transformer.text.tokenizer import EOS, PAD, UNK

NAME = "JoeyNMT"
ENVIRONMENT = Path(__file__).parents[1] / ".venv-joeynmt"
WORKER = Path(__file__).with_name("joeynmt_worker.py")


class JoeyNMT:
    """A worker that decodes with a model's weights, and trains a newly drawn model of its shape."""

    def __init__(self, model: Transformer, folder: Path, batches: Mapping[str, Sequence[Batch]]) -> None:
        task = {
            "shape": asdict(model.config), "train": asdict(TRAIN), "threads": torch.get_num_threads(),
            "batches": {name: [_rows(batch) for batch in group] for name, group in batches.items()},
        }  # fmt: skip
        (folder / "task.json").write_text(json.dumps(task), "utf-8")
        torch.save(_weights(model), folder / "weights.pt")
        # -P: the worker's own folder is not searched for modules; there this file would be taken for the package.
        self.process = subprocess.Popen(
            [ENVIRONMENT / "bin" / "python", "-P", "-W", "ignore", WORKER, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer("ready\n")

    def train(self, group: str) -> list[float]:
        """One optimizer step on each batch of a group; their losses."""
        return self._ask({"train": group})

    def decode(self, sources: Sequence[Sequence[int]], beam: int) -> list[list[int]]:
        """Targets of as many tokens as a source has with EOS, all sources being of one length."""
        rows = [[_theirs(piece) for piece in (*source, EOS)] for source in sources]
        return [[_theirs(piece) for piece in row] for row in self._ask({"sources": rows, "beam": beam})]

    def end(self) -> None:
        self.process.communicate()

    def _ask(self, work: dict) -> list:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(work) + "\n")
        self.process.stdin.flush()
        return json.loads(self._answer())

    def _answer(self, expected: str | None = None) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line or expected not in (None, line):
            raise RuntimeError(f"JoeyNMT's process ended or said {line!r}; its last words stand above.")
        return line


def is_there() -> bool:
    """Whether JoeyNMT's environment has been made, to its end."""
    return (ENVIRONMENT / ".ready").exists()


@contextmanager
def started(
    model: Transformer, folder: Path, batches: Mapping[str, Sequence[Batch]] | None = None
) -> Iterator[JoeyNMT | None]:
    """The worker for as long as it is needed; None where there is no environment for it.

    batches: what each name given to `train` stands for.
    """
    if not is_there():
        yield None
        return
    worker = JoeyNMT(model, folder, batches or {})
    try:
        yield worker
    finally:
        worker.end()


def _theirs(piece: int) -> int:
    """Their ids begin with <unk> and <pad>, ours with <pad> and <unk>; the rest is the same."""
    return {PAD: UNK, UNK: PAD}.get(piece, piece)


def _rows(batch: Batch) -> dict[str, list[list[int]]]:
    ids = {"source": batch.source, "target_in": batch.target_in, "target_out": batch.target_out}
    return {name: [[_theirs(piece) for piece in row] for row in rows.tolist()] for name, rows in ids.items()}


def _weights(model: Transformer) -> dict[str, torch.Tensor]:
    """Our weights under their names."""
    attention = {
        "encoder": {"attention": "src_src_att"},
        "decoder": {"attention": "trg_trg_att", "cross": "src_trg_att"},
    }
    norm = {
        "encoder": {"attention": "layer_norm"},
        "decoder": {"attention": "x_layer_norm", "cross": "dec_layer_norm"},
    }
    parts = {"query": "q_layer", "key": "k_layer", "value": "v_layer", "output": "output_layer"}
    embedding = model.source_embedding.weight.detach().clone()
    embedding[[PAD, UNK]] = embedding[[UNK, PAD]]
    found = dict.fromkeys(("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight"), embedding)
    for name, weight in model.named_parameters():
        stack, *path = name.split(".")
        if stack not in attention:
            continue
        layer, part, *inner = path
        if part == "feed_forward":
            inner = ["feed_forward", "pwff_layer", {"inner": "0", "outer": "3"}[inner[0]], inner[-1]]
        elif part == "feed_forward_residual":
            inner = ["feed_forward", "layer_norm", inner[-1]]
        elif part.endswith("_residual"):
            inner = [norm[stack][part.removesuffix("_residual")], inner[-1]]
        else:
            inner = [attention[stack][part], parts[inner[0]], inner[-1]]
        found[".".join((stack, "layers", layer, *inner))] = weight.detach()
    return found
