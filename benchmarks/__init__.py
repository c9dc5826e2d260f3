"""The same work done by Roundtable and by its peers, in one process, taking turns. `make bench` prints the table.

Peers are installed by the extra `bench`. A new contestant is one entry in `TRAINERS` or `DECODERS`.
"""
