"""What `roundtable` does with a model that is there, where tests/test_cli.py does not show it."""

import json

import pytest

from tests.training_runs.small_runs import silent
from transformer.commands.models import Evaluate
from transformer.training.distributed import World
from transformer.training.launch import create
from transformer.training.request import read_request
from transformer.training.worker import lead


@pytest.mark.filterwarnings("ignore:The text allows a vocabulary")
def test_scores_on_an_uploaded_corpus_stand_under_its_name(ask, tsv, capsys):
    folder, descriptor = create(ask("one", corpus="mine.tsv"), upload=tsv.read_bytes())
    lead(folder, read_request(folder), descriptor, silent, World())
    assert Evaluate("one", beam=1).run() == 0
    assert list(json.loads(capsys.readouterr().out)) == ["mine test"]
