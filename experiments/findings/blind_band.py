"""The error sizes that KernelBench's checks cannot see, against the reduction's length."""

from experiments.findings.common import Finding, report, scope, table
from suiteopt.audit.blind_band import SHORTENED, BlindBand, blind_band
from suiteopt.audit.figure import band_svg
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import load_protocol

PROTOCOLS = ("kernelbench-v0.1", "kernelbench")


def find(matrix: Matrix) -> Finding:
    title = "Relative error on every output that passes, against reduction length"
    try:
        bands = [blind_band(matrix, load_protocol(name)) for name in PROTOCOLS]
    except UserError as error:
        return Finding(title, {}, {"refused": str(error)}, [], [str(error)])
    loose, strict = bands
    rows = [
        (
            row.operation,
            row.problem,
            str(row.length),
            f"{row.band:.2g}",
            f"{other.band:.2g}",
            "-" if row.terms is None else str(row.terms),
            "-" if row.worst_accepted is None else f"{row.worst_accepted:.2g}",
            "-" if row.control is None else f"{row.control:.2g}",
            f"{row.floor:.2g}",
            "-" if row.times_control is None else f"{row.times_control:.0f}",
        )
        for row, other in zip(loose.rows, strict.rows, strict=True)
    ]
    return Finding(
        title=title,
        published={},
        ours={band.protocol: band.as_dict() for band in bands},
        tables=[
            table(
                ("operation", "problem", "n", "1e-2", "1e-4", "terms", "worst passed",
                 "correct kernels", "model", "times"),
                rows,
            )
        ],
        words=_words(matrix, loose),
        figure=band_svg(bands),
    )  # fmt: skip


def _words(matrix: Matrix, band: BlindBand) -> list[str]:
    words = [
        "Nobody published this figure; issues of kernel projects say that one tolerance is wrong "
        "as reductions grow, and this is by how much.",
        "terms: how many of n equal terms may be missing at 1e-2; times: how often the band at "
        "1e-2 holds what the worst correct kernel needs; above 1 zeros pass.",
    ]
    for name, exponent in band.slopes.items():
        if exponent is not None:
            words.append(
                f"{name}: correct kernels' error grows as n^{exponent:.2f} "
                "(independent roundings 0.5, the worst case 1)."
            )
    if not any(exponent is not None for exponent in band.slopes.values()):
        words.append(
            "No class has three lengths at full length here, so neither law is confirmed by this "
            "matrix; model is the root law with the problem's condition."
        )
    shortened = [name for name, why in band.left_out.items() if why.startswith(SHORTENED)]
    if shortened:
        words.append(f"Left out, since the reduction was shortened: {', '.join(shortened)}.")
    words += [
        f"Left out {name}: {why}." for name, why in band.left_out.items() if name not in shortened
    ]
    return [*words, scope(matrix)]


def main() -> None:
    report("blind_band", find)


if __name__ == "__main__":
    run_script(main)
