"""Runs in words: how far, and how long still."""

from transformer.training.runs import Run


def progress(run: Run) -> str:
    """Steps done of those planned."""
    return f"step {run.step:,}" if run.steps is None else f"step {run.step:,} of {run.steps:,}"


def share(run: Run) -> float:
    """Steps done of those planned, from 0 to 1; 0 where nothing is planned yet."""
    return min(1.0, run.step / run.steps) if run.steps else 0.0


def time_left(run: Run) -> str:
    """How long a run goes on, about; empty where it does not, or nobody knows."""
    return f"{duration(run.seconds_left)} left" if run.state == "running" and run.seconds_left is not None else ""


def duration(seconds: float) -> str:
    """In the two largest units that are needed."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    units = ((hours, "h"), (minutes, "min"), (0 if hours else rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"


def status_line(run: Run) -> str:
    """State, and what belongs to it, with dots between."""
    speed = f"{run.tokens_per_second:,.0f} target tokens/s" if run.live and run.tokens_per_second else ""
    return " · ".join(filter(None, (run.state, progress(run), time_left(run), speed, run.message)))
