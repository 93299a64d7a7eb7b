"""A confirmation on the fake device: measured, resumed, found done, compared."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_eval.campaign import confirming
from gpu_eval.campaign.interruption import InterruptedCampaignError
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from gpu_eval.campaign.settings import Settings
from gpu_eval.devices.base import Device
from suiteopt.errors import UserError
from suiteopt.export.confirm import confirm
from suiteopt.export.confirmation import Confirmation
from suiteopt.export.replay import verdicts
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.kill import calibrated_tolerances, kill_table
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_matrix import suite_of

OWN, LATTICE = "test/one:own-0", "test/one:lattice-fit"


@pytest.fixture
def matrix(baseline: Baseline) -> Matrix:
    return Matrix.open(baseline.root)


@pytest.fixture
def suite(matrix: Matrix) -> Suite:
    """Three members, one of another shape, at their calibrated tolerances."""
    odd = next(i for i in matrix.inputs["input"] if i.startswith("test/one:") and "@tile" in i)
    return calibrated(matrix, [OWN, LATTICE, odd])


def calibrated(matrix: Matrix, inputs: list[str]) -> Suite:
    made = suite_of(matrix, inputs)
    (problem,) = made.problems
    safe = dict(
        zip(
            matrix.inputs_of("test/one")["input"].astype(str),
            calibrated_tolerances(matrix, "test/one", suite_oracle(made)),
            strict=True,
        )
    )
    members = tuple(replace(m, tolerance=float(safe[m.input])) for m in problem.members)
    return replace(made, problems=(replace(problem, members=members),))


def asked(baseline: Baseline, matrix: Matrix, suite: Suite, limits: str = "full") -> Settings:
    return confirming.request(suite, matrix, limits, (str(baseline.corpus),), "gpu-eval confirm")


def measured(settings: Settings, root: Path, device: Device | None = None) -> Matrix:
    device = device or FakeDevice()
    return Matrix.open(confirming.measure(root, settings, device, Silent(), jobs=2).path)


def killed(matrix: Matrix, suite: Suite, member: str) -> list[str]:
    found = verdicts(kill_table(matrix, "test/one", suite_oracle(suite)), member)
    return [name for name, kill in found.items() if kill]


def test_equal_shapes_confirm_every_promise(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    found = measured(asked(baseline, matrix, suite), tmp_path / "out")
    assert found.meta.profile == "confirm-full"
    assert found.inputs["input"].tolist() == [m.input for m in suite.problems[0].members]
    result = confirm(suite, matrix, found)
    assert result.ok
    (problem,) = result.problems
    assert [m.full for m in problem.members] == [True, True, False]
    assert [m.where for m in problem.members] == ["full", "full", "varied"]
    for member in problem.members:
        assert member.confirmed == member.promised == len(killed(matrix, suite, member.input)) > 0
        assert member.tolerance == member.needed
        assert member.controls_accepted > 0
    # Integer sums are exact, whatever their order: the tightest tolerance is 0.
    assert (problem.members[1].tolerance, problem.members[1].worst_control) == (0.0, 0.0)


def test_other_limits_are_other_shapes(baseline: Baseline, suite: Suite, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    tiny.write_corpus(corpus)
    text = (corpus / "one" / "problem.py").read_text()
    # Too long a reduction for any profile of a CPU, and rows enough to be shrunk.
    text = text.replace('"cols", 12', '"cols", 40000').replace('"rows", 9', '"rows", 5001')
    (corpus / "one" / "problem.py").write_text(text)
    matrix = Matrix.open(baseline.root)
    settings = confirming.request(suite, matrix, "demo", (str(corpus),), "gpu-eval confirm")
    result = confirm(suite, matrix, measured(settings, tmp_path / "out"))
    one, _, odd = result.problems[0].members
    assert (one.shape["cols"], one.full) == (256, False)
    assert one.reduction_ratio == 256 / 40000
    assert one.where == "reduction x 0.0064"
    assert one.shape["rows"] % 4 == 5001 % 4
    assert (odd.where, odd.shape["cols"]) == ("varied", 256)
    assert odd.shape["rows"] > 9


def test_a_kill_that_is_lost_and_a_control_that_is_rejected(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    shared = sorted(set(killed(matrix, suite, OWN)) & set(killed(matrix, suite, LATTICE)))
    lost = next(name for name in shared if name in tiny.mutants(baseline.corpus))
    (problem,) = suite.problems
    strict = tuple(replace(m, tolerance=0.0) for m in problem.members)
    strict_suite = replace(suite, problems=(replace(problem, members=strict),))
    # Its output is the reference to the bit, which no tolerance tells from a correct one.
    device = FakeDevice(acts={lost: "unwritten"})
    found = measured(asked(baseline, matrix, strict_suite), tmp_path / "out", device)
    result = confirm(strict_suite, matrix, found)
    assert not result.ok
    own, lattice, _ = result.problems[0].members
    assert [kill.mutant for kill in own.lost] == [lost]
    assert [kill.critical for kill in own.lost] == [0.0]
    assert own.confirmed == own.promised - 1
    assert result.problems[0].detected_confirmed == result.problems[0].detected_promised - 1
    # Floats do not add up to the same bits in every order; integers do.
    assert own.controls_rejected
    assert not lattice.controls_rejected
    assert own.needed == pytest.approx(10 * own.worst_control, rel=0.5)
    assert own.needed >= 10 * own.worst_control > 0


def test_fatal_on_a_member_is_not_run_on_the_others(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    names = [m for m in suite.problems[0].members if "@" not in m.input]
    third = "test/one:alternating"
    assert third in set(matrix.inputs["input"])
    extra = suite_of(matrix, [third]).problems[0].members
    wider = replace(suite, problems=(replace(suite.problems[0], members=(*names, *extra)),))
    shared = set.intersection(*(set(killed(matrix, wider, m)) for m in (OWN, LATTICE, third)))
    fatal = next(name for name in tiny.mutants(baseline.corpus) if name in shared)
    found = measured(
        asked(baseline, matrix, wider), tmp_path / "out", FakeDevice(acts={fatal: "crash"})
    )
    result: Confirmation = confirm(wider, matrix, found)
    (problem,) = result.problems
    assert [name for m in problem.members for name in m.not_run] == [fatal, fatal]
    assert fatal not in {lost.mutant for m in problem.members for lost in m.lost}
    assert problem.detected_confirmed == problem.detected_promised


def test_a_refused_launch_is_not_left_out(baseline: Baseline, tmp_path: Path) -> None:
    refused = tiny.mutants(baseline.corpus)[0]
    settings = tiny.settings(baseline.corpus)
    device = FakeDevice(acts={refused: "launch_error"})
    start(tmp_path / "before", settings, device, Silent())
    before = Matrix.open(tmp_path / "before")
    made = calibrated(before, [OWN, LATTICE])
    wanted = confirming.request(
        made, before, "full", (str(baseline.corpus),), "gpu-eval confirm", skip_fatal=True
    )
    assert wanted.skipped == ()
    found = measured(wanted, tmp_path / "out", device)
    (problem,) = confirm(made, before, found).problems
    statuses = found.cells("test/one").query("implementation == @refused")["status"]
    assert statuses.astype(str).tolist() == ["launch_error", "launch_error"]
    assert problem.detected_not_run == 0
    assert all(refused not in m.not_run and m.confirmed == m.promised for m in problem.members)


@pytest.mark.parametrize("skip", [True, False])
def test_what_ended_in_an_exception_before_may_be_left_out(
    baseline: Baseline, tmp_path: Path, skip: bool
) -> None:
    fatal = tiny.mutants(baseline.corpus)[0]
    settings = tiny.settings(baseline.corpus)
    start(tmp_path / "before", settings, FakeDevice(acts={fatal: "crash"}), Silent())
    before = Matrix.open(tmp_path / "before")
    made = calibrated(before, [OWN, LATTICE])
    wanted = confirming.request(
        made, before, "full", (str(baseline.corpus),), "gpu-eval confirm", skip_fatal=skip
    )
    assert wanted.skipped == (((fatal, LATTICE), (fatal, OWN)) if skip else ())
    assert Settings.from_json(wanted.to_json(), tmp_path) == wanted
    device = FakeDevice(acts={fatal: "crash"})
    found = measured(wanted, tmp_path / "out", device)
    (problem,) = confirm(made, before, found).problems
    statuses = found.cells("test/one").query("implementation == @fatal")["status"].astype(str)
    assert sorted(statuses) == (["closed", "closed"] if skip else ["closed", "crash"])
    assert problem.detected_not_run == (1 if skip else 0)
    assert problem.detected_confirmed == problem.detected_promised - problem.detected_not_run
    assert [m.not_run for m in problem.members].count((fatal,)) == (2 if skip else 1)
    other = confirming.request(
        made, before, "full", (str(baseline.corpus),), "gpu-eval confirm", skip_fatal=not skip
    )
    began = confirming.Layout(tmp_path / "begun")
    began.work.mkdir(parents=True)
    began.settings.write_text(wanted.to_json(), "utf-8")
    with pytest.raises(UserError, match="something else"):
        confirming.measure(began.root, other, device, Silent())
    # What was measured whole answers who would leave something out, and not the other way round.
    if skip:
        with pytest.raises(UserError, match=r"lacks 2 of the cells .* say --skip-fatal"):
            confirming.measure(tmp_path / "out", other, device, Silent())
    else:
        assert confirming.measure(tmp_path / "out", other, device, Silent()).already


def test_cells_that_an_older_version_left_out_are_missed(
    baseline: Baseline, tmp_path: Path
) -> None:
    """Refused launches once were, with what crashed; saying the flag does not bring them."""
    crashed, refused = tiny.mutants(baseline.corpus)[:2]
    device = FakeDevice(acts={crashed: "crash", refused: "launch_error"})
    start(tmp_path / "before", tiny.settings(baseline.corpus), device, Silent())
    before = Matrix.open(tmp_path / "before")
    made = calibrated(before, [OWN, LATTICE])
    wanted = confirming.request(
        made, before, "full", (str(baseline.corpus),), "gpu-eval confirm", skip_fatal=True
    )
    assert {name for name, _ in wanted.skipped} == {crashed}
    older = replace(wanted, skipped=tuple(sorted([*wanted.skipped, (refused, OWN)])))
    measured(older, tmp_path / "out", device)
    with pytest.raises(UserError) as caught:
        confirming.measure(tmp_path / "out", wanted, device, Silent())
    assert str(caught.value).endswith(
        f"lacks 1 of the cells that are asked for, the first of {refused} on {OWN}; "
        "choose another --output"
    )
    assert confirming.measure(tmp_path / "out", older, device, Silent()).already


def test_once_more_measures_nothing(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    settings = asked(baseline, matrix, suite)
    first = confirming.measure(tmp_path / "out", settings, FakeDevice(), Silent(), jobs=2)
    again = confirming.measure(tmp_path / "out", settings, None, Silent())
    assert (first.already, again.already) == (False, True)
    assert again.seconds == Matrix.open(tmp_path / "out").meta.seconds
    assert confirming.limits_of(tmp_path / "out") == "full"


class Stopping(Silent):
    """Ends a campaign as Ctrl-C does, once something is measured."""

    def cells(self, done: int, total: int, before: int = 0) -> None:
        if done:
            raise KeyboardInterrupt


def test_the_same_command_goes_on(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    settings = asked(baseline, matrix, suite)
    with pytest.raises(InterruptedCampaignError):
        confirming.measure(tmp_path / "out", settings, FakeDevice(), Stopping(), jobs=1)
    assert confirming.limits_of(tmp_path / "out") == "full"
    with pytest.raises(UserError, match="holds something else"):
        confirming.measure(
            tmp_path / "out", asked(baseline, matrix, suite, "demo"), FakeDevice(), Silent()
        )
    found = measured(settings, tmp_path / "out")
    undisturbed = measured(settings, tmp_path / "other")
    assert found.meta.files == undisturbed.meta.files
    assert confirm(suite, matrix, found).ok


def test_a_directory_of_something_else(
    baseline: Baseline, matrix: Matrix, suite: Suite, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="holds something else"):
        confirming.limits_of(baseline.root)
    settings = asked(baseline, matrix, suite)
    with pytest.raises(UserError, match="holds something else"):
        confirming.measure(baseline.root, settings, FakeDevice(), Silent())
    replayed = tiny.settings(baseline.corpus, profile="replay", suite=suite.to_json())
    start(tmp_path / "replay", replayed, FakeDevice(), Silent())
    with pytest.raises(UserError, match="holds something else"):
        confirming.measure(tmp_path / "replay", settings, FakeDevice(), Silent())
    assert confirming.limits_of(tmp_path / "nothing") == ""


def test_as_many_sites_of_a_rule_as_the_matrix_has(matrix: Matrix, suite: Suite) -> None:
    with pytest.raises(UserError, match="there is no profile 'huge'"):
        confirming.request(suite, matrix, "huge", (), "")
    assert confirming.request(suite, matrix, "contract", (), "").sites is None
    thin = Matrix(matrix.path, replace(matrix.meta, profile="contract"))
    assert confirming.request(suite, thin, "full", (), "").sites == 1
    odd = Matrix(matrix.path, replace(matrix.meta, profile="by-hand"))
    assert confirming.request(suite, odd, "full", (), "").sites is None


def test_some_of_the_problems(suite: Suite) -> None:
    assert confirming.narrowed(suite, ()) is suite
    assert confirming.narrowed(suite, ["test/one"]) == suite
    with pytest.raises(UserError, match="no members of test/two; it has some of test/one"):
        confirming.narrowed(suite, ["test/two"])


def test_a_cpu_needs_limits_of_its_own() -> None:
    with pytest.raises(UserError, match="take a GPU"):
        confirming.limits_for(FakeDevice())
    assert confirming.limits_for(FakeDevice(torch_device="cuda")) == "contract"
