"""What `suiteopt verify` shows while it loads: a bar on a terminal, a line a problem elsewhere."""

import contextlib
from collections.abc import Iterator

from suiteopt.console import stderr
from suiteopt.export.file_record import Progress, Step

TURNS = ("first", "second")


@contextlib.contextmanager
def shown() -> Iterator[Progress]:
    """Yield what shows a step on standard error."""
    console = stderr()
    if not console.is_terminal:
        last: list[tuple[str, int]] = []

        def line(step: Step) -> None:
            if last != [(step.problem, step.turn)]:
                last[:] = [(step.problem, step.turn)]
                console.print(f"loading {place(step)}", soft_wrap=True)

        yield line
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("loading", total=1.0)

        def advance(step: Step) -> None:
            bar.update(task, completed=share(step), description=described(step))

        yield advance


def place(step: Step) -> str:
    """Return which problem is loaded, of how many, and which time."""
    return f"{step.problem} ({step.number} of {step.problems}, {TURNS[step.turn]} time)"


def described(step: Step) -> str:
    """Return which configuration of which problem is being made."""
    if not step.configurations:
        return place(step)
    at = min(step.done + 1, step.configurations)
    return f"{place(step)}: configuration {at} of {step.configurations}"


def share(step: Step) -> float:
    """Return how much is done, from 0 to 1, problems and both turns counted alike."""
    of_problem = min(step.done / step.configurations, 1.0) if step.configurations else 0.0
    return (step.turn + (step.number - 1 + of_problem) / step.problems) / len(TURNS)
