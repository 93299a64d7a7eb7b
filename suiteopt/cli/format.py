"""How figures are written for people."""


def share(value: float | None) -> str:
    """Write a share as a percentage with one decimal; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f}%"


def points(value: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    return "-" if value is None else f"{100 * value:+.1f}"


def interval(bounds: tuple[float, float] | list[float] | None) -> str:
    """Write an interval of shares."""
    return "-" if bounds is None else f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}%"
