"""Prints the table of benchmarks: `python -m benchmarks`."""

import sys
import time
import warnings

from benchmarks.table import Row, layout, machine


def main() -> None:
    try:
        from benchmarks import decoding, matmul, tracing, training
    except ImportError as error:
        sys.exit(f"{error}; the peers are installed by `make bench`, or by pip install '.[bench]'.")
    # Peers speak of their own future on standard error; it is not ours to show.
    warnings.simplefilter("ignore")
    started = time.monotonic()
    print(machine(), flush=True)
    rows: list[Row] = []
    for part in (training, decoding, tracing, matmul):
        print(f"measuring {part.__name__.rpartition('.')[2]} …", file=sys.stderr, flush=True)
        rows += part.rows()
    print(f"\n{layout(rows)}\n\nMedians of turns taken A B C A B C …, {time.monotonic() - started:.0f} s in all.")


if __name__ == "__main__":
    main()
