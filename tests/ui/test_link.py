from ui.link import left_out

STATE = {"kind": "cross", "heads": ["1", "3"], "threshold": 0.05, "top_k": 3, "hide_special": True, "layer": "0"}


def test_what_the_controls_took_is_not_left_out():
    asked = {
        "kind": ["cross"], "heads": ["1", "3"], "threshold": ["0.05"], "top_k": ["3"], "hide_special": ["true"],
        "layer": ["0"],
    }  # fmt: skip
    assert left_out(asked, STATE, list(STATE)) == []


def test_each_value_that_was_not_taken_is_named():
    asked = {
        "kind": ["x"],
        "heads": ["1", "9"],
        "threshold": ["a"],
        "top_k": ["4"],
        "hide_special": ["2"],
        "layer": [""],
    }
    wanted = ["kind=x", "heads=9", "threshold=a", "top_k=4", "hide_special=2"]
    assert left_out(asked, STATE, list(STATE)) == wanted


def test_what_the_page_does_not_know_is_named_last_and_as_often_as_it_was_said():
    asked = {"mean": ["true"], "kind": ["x"], "<b>": [""], "n": ["1", "2"]}
    assert left_out(asked, STATE, list(STATE)) == ["kind=x", "mean=true", "<b>", "n=1", "n=2"]
