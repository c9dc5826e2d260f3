"""`python -m transformer …` is `roundtable …`."""

from transformer.cli import main

if __name__ == "__main__":
    main()
