"""The journal: what it vouches for, and what a torn line costs."""

import time
from pathlib import Path

from gpu_eval.campaign.journal import Journal, Verdict
from suiteopt.matrix.files import sha256


def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl", tmp_path)


def shard(tmp_path: Path, name: str, data: bytes) -> dict[str, str]:
    (tmp_path / name).write_bytes(data)
    return {name: sha256(data)}


def test_what_is_done_is_known_again(tmp_path: Path) -> None:
    journal(tmp_path).done("block-1", shard(tmp_path, "block-1.npy", b"cells"))
    again = journal(tmp_path)
    assert again.intact("block-1")
    assert not again.intact("block-2")


def test_damaged_and_missing_shards_are_found(tmp_path: Path) -> None:
    kept = journal(tmp_path)
    kept.done("a", shard(tmp_path, "a.npy", b"cells"))
    (tmp_path / "a.npy").write_bytes(b"cellz")
    assert not kept.intact("a")
    (tmp_path / "a.npy").unlink()
    assert not kept.intact("a")
    kept.done("a", shard(tmp_path, "a.npy", b"again"))
    assert journal(tmp_path).intact("a")


def test_a_torn_line_costs_itself_alone(tmp_path: Path) -> None:
    first = journal(tmp_path)
    first.done("a", shard(tmp_path, "a.npy", b"1"))
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"event": "done", "key": "b", "fil')
    second = journal(tmp_path)
    second.done("c", shard(tmp_path, "c.npy", b"3"))
    third = journal(tmp_path)
    assert [third.intact(key) for key in "abc"] == [True, False, True]


def test_devices_of_sittings(tmp_path: Path) -> None:
    kept = journal(tmp_path)
    assert kept.devices == ()
    for model in "aba":
        kept.sit_down(time.monotonic(), {"model": model})
    assert kept.devices == journal(tmp_path).devices == ({"model": "a"}, {"model": "b"})


def test_lines_of_another_kind_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('[1, 2]\n{"event": "done"}\n{"event": "later"}\n')
    assert not journal(tmp_path).intact("a")


def test_verdicts_and_shattered_tasks(tmp_path: Path) -> None:
    kept = journal(tmp_path)
    verdict = Verdict("mutant", "input", "crash", "the process died with exit code -11")
    kept.verdict("a", verdict)
    kept.shatter("b")
    again = journal(tmp_path)
    assert again.verdicts("a") == (verdict,)
    assert again.verdicts("b") == ()
    assert (again.is_shattered("a"), again.is_shattered("b")) == (False, True)


def test_seconds_are_those_of_all_sittings(tmp_path: Path) -> None:
    lines = [("sitting", 0.5), ("done", 2.0), ("sitting", 0.25), ("verdict", 3.0), ("break", 4.0)]
    text = "".join(f'{{"event": "{event}", "at": {at}}}\n' for event, at in lines)
    (tmp_path / "journal.jsonl").write_text(text)
    assert journal(tmp_path).seconds == 6.0
    now = journal(tmp_path)
    now.sit_down(time.monotonic() - 10.0, {"name": "fake"})
    now.stand_up()
    assert 16.0 <= journal(tmp_path).seconds < 60.0
