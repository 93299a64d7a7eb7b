"""Commands that only look: problems and faults."""

from pathlib import Path

import pytest

from gpu_eval.campaign import survey
from gpu_eval.campaign.plan import choose_problems, find_profile
from gpu_eval.campaign.settings import Settings
from gpu_eval.cli import mutants
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from tests.command import Command
from tests.gpu_eval.campaign import tiny

FAMILIES = ["arithmetic", "boundary", "indexing", "precision", "semantic", "synchronization"]


def test_corpus_list(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    listed = gpu_eval("corpus", "list", "--corpus", corpus, "--json").json["problems"]
    found = {row["problem"]: row for row in listed}
    assert {"level1/001", "level1/050", "test/one", "test/two"} <= set(found)
    assert found["test/one"]["substrates"] == ["plain"]
    assert "eager" in found["test/one"]["controls"]
    assert "test/two" in gpu_eval("corpus", "list", "--corpus", corpus).out


def test_levels_choose_problems(gpu_eval: Command) -> None:
    found = {}
    for level in (1, 2):
        listed = gpu_eval("corpus", "list", "--level", str(level), "--json").json["problems"]
        found[level] = [row["problem"] for row in listed]
        assert all(name.startswith(f"level{level}/") for name in found[level])
    both = gpu_eval("corpus", "list", "--level", "1", "--level", "2", "--json").json["problems"]
    assert [row["problem"] for row in both] == found[1] + found[2]
    corpus = load_corpus()
    for profile, levels, count in (
        ("contract", (), len(corpus.problems)),
        ("contract", (2,), len(found[2])),
        ("demo", (2,), len(found[2])),
        ("demo", (1, 2), len(corpus.problems)),
        ("demo", (), 6),
    ):
        settings = Settings(profile, "cpu", levels=levels)
        assert Settings.from_json(settings.to_json(), Path("settings.json")) == settings
        assert len(choose_problems(corpus, settings, find_profile(profile))) == count


def test_mutants_list_counts_what_it_names(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    answer = gpu_eval("mutants", "list", "--corpus", corpus, "--problem", "test/one", "--json").json
    assert (answer["problems"], answer["substrates"]) == (1, 1)
    assert list(answer["by_family"]) == FAMILIES
    assert sum(answer["by_family"].values()) == answer["generated"] == len(answer["mutants"])
    assert answer["rules"] == len({m["rule"] for m in answer["mutants"]})
    ids = [m["mutant"] for m in answer["mutants"]]
    assert ids[: len(tiny.mutants(corpus))] == tiny.mutants(corpus)
    text = gpu_eval("mutants", "list", "--corpus", corpus, "--problem", "test/one").out
    assert all(name in text for name in ids[:3])


def test_mutants_list_of_all_problems_has_every_family(gpu_eval: Command) -> None:
    answer = gpu_eval("mutants", "list", "--json").json
    assert answer["problems"] >= 6
    assert answer["rules"] >= 45
    assert all(answer["by_family"][family] > 0 for family in FAMILIES)
    assert "mutants" not in answer
    assert list(answer)[-4:] == ["stillborn", "equivalent", "duplicate", "valid"]
    assert {answer[key] for key in list(answer)[-4:]} == {None}


def test_all_mutants_are_compiled_problem_by_problem(
    gpu_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = list(load_corpus().problems.values())[:2]
    monkeypatch.setattr(mutants, "_choose", lambda wanted, corpus: known)
    asked = []

    def surveyed(problems: list[Problem], *arguments: object) -> dict[str, int]:
        asked.append([p.id for p in problems])
        return {"stillborn": 1, "equivalent": 2, "duplicate": 3, "valid": 4}

    monkeypatch.setattr(survey, "survey", surveyed)
    command = gpu_eval("mutants", "list", "--all", "--device", "cpu", "--json")
    answer = command.json
    assert asked == [[p.id] for p in known]
    counts = [answer[key] for key in ("stillborn", "equivalent", "duplicate", "valid")]
    assert counts == [2, 4, 6, 8]
    assert answer["compiled"] == {"device": "cpu", "profile": "demo"}
    lines = command.err.splitlines()
    assert lines[0] == f"gpu-eval: compiled 0 of {answer['generated']} faults; next level1/001"
    assert len(lines) == 2
    plain = gpu_eval("mutants", "list", "--all", "--no-compile", "--json").json
    assert plain["generated"] == answer["generated"]
    assert plain["valid"] is None
    assert len(asked) == 2


def test_mutants_show_is_a_diff(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    listed = gpu_eval("mutants", "list", "--corpus", corpus, "--problem", "test/one", "--json").json
    chosen = next(m for m in listed["mutants"] if m["before"] == "row < rows")
    answer = gpu_eval("mutants", "show", chosen["mutant"], "--corpus", corpus, "--json").json
    assert answer["rule"] == chosen["rule"]
    assert "-    if (row < rows) {" in answer["diff"]
    after = chosen["after"]
    assert f"+    if ({after}) {{" in answer["diff"]
    plain = gpu_eval("mutants", "show", chosen["mutant"], "--corpus", corpus)
    assert plain.out.rstrip("\n") == answer["diff"].rstrip("\n")


def test_new_scaffolds_a_problem_that_loads(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tmp_path / "mine"
    answer = gpu_eval("new", "my_sum", "--directory", corpus, "--json").json
    assert answer == {"problem": "my_sum", "directory": str(corpus / "my_sum")}
    listed = gpu_eval("corpus", "list", "--corpus", corpus, "--json").json["problems"]
    assert "user/my_sum" in [row["problem"] for row in listed]
    again = gpu_eval("new", "my_sum", "--directory", corpus)
    assert again.code == 2
    assert "exists already" in again.sentence
