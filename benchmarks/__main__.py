"""Prints the table of benchmarks: `python -m benchmarks`."""

import os
import sys
import time
import warnings

import torch

from benchmarks.table import Row, layout, machine


def main() -> None:
    try:
        from benchmarks import comparison, decoding, joeynmt, matmul, pages, positions, tracing, training
    except ImportError as error:
        sys.exit(f"{error}; the peers are installed by `make bench`, or by pip install '.[bench]'.")
    # Peers speak of their own future on standard error; it is not ours to show.
    warnings.simplefilter("ignore")
    started = time.monotonic()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(idle_cores())
    print(machine(), flush=True)
    if not joeynmt.is_there():
        print(
            f"JoeyNMT is not measured: {joeynmt.ENVIRONMENT.name} is not there; make bench makes it.", file=sys.stderr
        )
    rows: list[Row] = []
    for part in (training, decoding, tracing, matmul, pages, comparison, positions):
        print(f"measuring {part.__name__.rpartition('.')[2]} …", file=sys.stderr, flush=True)
        rows += part.rows()
    print(f"\n{layout(rows)}\n\nMedians of turns taken A B C A B C …, {time.monotonic() - started:.0f} s in all.")


def idle_cores() -> int:
    """Cores that nobody else works on, at least one.

    Where two threads share a core each waits for the other at every barrier: everything is up to 20 times slower then,
    and differences between contestants are chance.
    """
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, torch.get_num_threads() - round(busy))


if __name__ == "__main__":
    main()
