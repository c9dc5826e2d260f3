"""`roundtable ablate`: what it refuses before it does anything; the families have tests of their own."""

from pathlib import Path

import pytest

from transformer.cli import main


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["minute", "--parts", "copy"], "--parts is for positions; of minute, --only says what to train."),
        (["table3-small", "--parts", "copy"], "--parts is for positions"),
        (["positions", "--only", "A"], "--only is for table3-small and minute"),
        (["minute", "--only", "Z"], "--only is 'Z'"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused_and_nothing_is_made(arguments, says, folder: Path, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["ablate", *arguments])
    assert leaving.value.code == 2
    assert says in capsys.readouterr().err
    assert not folder.exists()
