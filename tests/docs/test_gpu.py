"""The figures of the page on GPUs and of the card are those of the records in the checkout."""

import json
import re
from pathlib import Path
from typing import Any

from experiments.bench_gpu_stage import NAME, save
from tests.docs.pages import flat

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
PAGE = (ROOT / "docs" / "gpu.md").read_text("utf-8")
CARDS = {
    json.loads(header.read_text("utf-8"))["id"]: flat(header.parent / "README.md")
    for header in (ROOT / "matrices").glob("kernelbench-*/matrix.json")
}
"""Cards of the matrices that ship, by id."""


def record(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def rows(start: str) -> list[list[str]]:
    """Return the cells of the lines of a table that begin so."""
    found = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found]


def test_the_table_of_cpu_against_gpu_is_its_record() -> None:
    oracles = record("cpu_vs_gpu")["oracles"]
    (head,) = rows("oracle | cells")
    assert {"value", *head} == set(oracles[0])
    for oracle in oracles:
        (row,) = rows(f"{oracle['oracle']} |")
        shown = dict(zip(head, row, strict=True))
        for name, value in oracle.items():
            assert shown.get(name, "0") == (value if isinstance(value, str) else f"{value:,}")


def test_the_repeat_is_its_record() -> None:
    found = record("matrix_repeat")
    cells, quiet = found["cells"], found["unflagged"]
    causes = quiet["causes"]
    for name, cause in causes.items():
        assert f" | {cause['implementations']} | {cause['cells']} |\n" in PAGE, name
    (calibrated,) = (v for v in found["verdicts"] if v["oracle"] == "calibrated")
    (suite,) = (s for s in found["suites"] if s["oracle"] == "calibrated")
    detected = {name: t["detected"] for name, t in suite["detected"].items()}
    one_line = flat(ROOT / "docs" / "gpu.md")
    card = CARDS.get(found["A"]["matrix_id"])  # of a matrix that ships no more, the page alone
    for text in (one_line, *([] if card is None else [card])):
        assert f"{cells['equal']:,}" in text
        assert f"{found['flagged']['cells']:,}" in text
        assert f"{quiet['cells']} to {quiet['implementations']} more" in text
        assert f"{calibrated['differ']} of {calibrated['cells']:,} verdicts" in text
        assert f"of {calibrated['mutants']} mutants" in text
        assert f"{quiet['ran_once_in_both']}" in text
        assert f"{detected['suite of A on B']}" in text
        assert f"{detected['suite of B on B']}" in text


def test_the_two_devices_are_those_of_their_record() -> None:
    found = record("cpu_vs_gpu")
    assert found["cpu"]["matrix_id"] == matrix_id("kernelbench-l1-6-cpu")
    (suites,) = (s["detected"] for s in found["suites"] if s["oracle"] == "calibrated")
    (mine, own) = (suites[f"suite of {name} on B"] for name in "AB")
    assert (
        f"detect {mine['detected']:,} of the GPU's {own['mutants']:,} valid mutants, those chosen "
        f"on the GPU {own['detected']:,}."
    ) in flat(ROOT / "docs" / "gpu.md")


def matrix_id(name: str) -> str:
    return str(json.loads((ROOT / "matrices" / name / "matrix.json").read_text("utf-8"))["id"])


def test_the_speeds_are_those_of_the_benchmark(tmp_path: Path) -> None:
    found = record(NAME)
    save(tmp_path, found)
    written = (RESULTS / f"{NAME}.md").read_text("utf-8")
    assert (tmp_path / f"{NAME}.md").read_text("utf-8") == written
    measured = {
        row["what"]: row["measured"] for part in found["parts"].values() for row in part["rows"]
    }
    for size, start in (("2^24", "compare two"), ("2^27", "... at 2^27"), ("2^28", "... at 2^28")):
        (row,) = rows(start)
        shares = [int(share) for share in re.findall(r"(\d+)%", row[1])]
        names = [f"compare {size}{also}, share of copy bandwidth" for also in ("", " and poison")]
        assert shares == [round(100 * measured[name]) for name in names[: len(shares)]]
    (row,) = rows("a fatal mutant")
    assert row[1] == f"{next(v for k, v in measured.items() if 'fatal' in k):.2f} s"


def test_the_times_of_compiling_are_those_of_the_benchmark() -> None:
    found = record("bench_compile")
    total, ms = found["total"], found["total"]["ms"]
    parts = {
        "preparing the source": "prepare",
        "NVRTC, front end": "front_end",
        "NVRTC, optimiser": "optimiser",
        "NVRTC, ptxas": "ptxas",
        "hash of the machine code": "hash",
    }
    for start, name in parts.items():
        (row,) = rows(start)
        assert row[1:3] == [f"{ms[name]:.1f}", f"{100 * ms[name] / ms['whole']:.0f}%"]
    (now,) = rows("all, keys and files included")
    (before,) = rows("all with hashes as they were before")
    assert now[1] == f"{ms['whole']:.1f}: {total['mutants_a_second']} mutants/s"
    assert before[1] == f"{ms['whole_before']:.1f}: {total['mutants_a_second_before']} mutants/s"
    text = flat(ROOT / "docs" / "gpu.md")
    assert f"a unit of 48 from each of {len(found['problems'])} problems" in text
    assert f"Hashes were {ms['hash_before']:.1f} ms" in text
    assert f"it gives {total['faster']} times as many mutants a second" in text
    assert f"alone it does {total['mutants_a_second_of_nvrtc_alone']} a second" in text
    nvrtc = {
        name: sum(problem["ms"][part] for part in ("front_end", "optimiser", "ptxas"))
        for name, problem in found["problems"].items()
    }
    low, high = min(nvrtc, key=nvrtc.__getitem__), max(nvrtc, key=nvrtc.__getitem__)
    assert (
        f"it takes {nvrtc[low]:.0f} ({int(low[-3:])}) to {nvrtc[high]:.0f} ms ({int(high[-3:])})"
    ) in text
