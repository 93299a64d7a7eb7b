"""The blind band as a figure: what a check accepts, and what correct kernels need, against n."""

import io
from collections.abc import Sequence

from suiteopt.audit.band_model import linear_law, root_law
from suiteopt.audit.blind_band import BlindBand
from suiteopt.errors import MissingExtraError

COLOURS = ("#b3362b", "#4a7fb0", "#d9833d", "#1f4e79", "#7a5195", "#5b8c5a", "#8c6d31", "#666666")
SMALLEST = 1e-9
"""Drawn in place of an error of 0, which a logarithmic axis has no room for."""


def band_svg(bands: Sequence[BlindBand]) -> bytes:
    """Draw blind bands, one marker an operation class; the same numbers give the same bytes.

    Parameters
    ----------
    bands : sequence of BlindBand
        Of several protocols on one matrix; each is joined by a line of its own dash.

    Returns
    -------
    bytes
        SVG.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "report") from error
    mpl.use("svg")
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "suiteopt", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(8, 4))
        operations = sorted({row.operation for found in bands for row in found.rows})
        colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(operations)}
        for found, marker in zip(bands, "ovsDP*X^", strict=False):
            for row in found.rows:
                axes.plot(
                    row.length, min(row.band, 1e3), marker, color=colours[row.operation], alpha=0.8
                )
            axes.plot([], [], marker, color="black", label=f"accepted by {found.protocol}")
        for row in bands[0].rows:
            axes.plot(
                row.length, max(row.control or 0.0, SMALLEST), "_", color=colours[row.operation]
            )
        axes.plot([], [], "_", color="black", label="worst correct kernel, max d / RMS")
        lengths = sorted({row.length for found in bands for row in found.rows} | {1, 10_000})
        axes.plot(lengths, [root_law(n) for n in lengths], "--", color="grey", label="u √n")
        axes.plot(lengths, [linear_law(n) for n in lengths], ":", color="grey", label="u n")
        for name, colour in colours.items():
            axes.plot([], [], "s", color=colour, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("terms of the reduction, n")
        axes.set_ylabel("relative error on every output")
        axes.set_title(f"full-length cells only ({bands[0].label})", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.tight_layout()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        plt.close(figure)
    return buffer.getvalue()
