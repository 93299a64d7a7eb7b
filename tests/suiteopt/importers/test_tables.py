"""Kill maps of Major, plain CSV, NumPy archives."""

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from suiteopt.errors import UserError
from suiteopt.importers.arrays import read_arrays
from suiteopt.importers.formats import Format, detect, read_kill_map
from suiteopt.importers.killmap import Outcome
from suiteopt.importers.major import read_major
from suiteopt.importers.plain import read_plain
from tests.suiteopt.importers.documents import save

P, N, F, T, C, U = (
    Outcome.PASSED,
    Outcome.UNCOVERED,
    Outcome.FAILED,
    Outcome.TIMEOUT,
    Outcome.CRASHED,
    Outcome.UNKNOWN,
)
KILLS = "TestNo,MutantNo,[FAIL | TIME | EXC]\n2,1,FAIL\n10,1,TIME\n2,3,EXC\n"
LOG = (
    "1:ROR:<=(int,int):<(int,int):triangle.T@classify(int):11:a <= 0 |==> a < 0\n"
    "2:LVR:0:1:triangle.T@classify(int):12:0 |==> 1\n"
    "3:STD:<CALL>:<NO-OP>:triangle.T@main:40:f(x) |==> <NO-OP>\n"
)


def test_a_kill_map_alone_knows_killed_mutants_only(tmp_path: Path) -> None:
    found = read_major(save(tmp_path / "x.killMap.csv", KILLS))
    assert found.tests == ("2", "10")
    assert [mutant.name for mutant in found.mutants] == ["1", "3"]
    assert found.outcomes.tolist() == [[F, T], [C, P]]
    assert "mutants that no test kills are not known of" in found.notes[0]


def test_a_kill_map_with_all_its_files(tmp_path: Path) -> None:
    save(tmp_path / "killMap.csv", KILLS)
    save(tmp_path / "mutants.log", LOG)
    save(tmp_path / "testMap.csv", "TestNo,TestName\n2,T.two\n10,T.ten\n11,T.eleven\n")
    save(tmp_path / "covMap.csv", "TestNo,MutantNo\n2,1\n10,1\n2,3\n10,3\n2,2\n")
    found = read_major(tmp_path)
    assert found.titles == ("T.two", "T.ten", "T.eleven")
    assert found.outcomes.tolist() == [[F, T, N], [P, N, N], [C, P, N]]
    second = found.mutants[1]
    assert (second.rule, second.before, second.after) == ("LVR", "0", "1")
    assert second.place is not None
    assert (second.place.file, second.place.line) == ("triangle.T", 12)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "is no kill map of Major"),
        (KILLS + "x,1,FAIL\n", "no two numbers in row 5"),
        (KILLS + "2,1,DEAD\n", "'DEAD' in row 5"),
        (KILLS + "2,1,TIME\n", "two results of test 2 on mutant 1"),
        ("TestNo,MutantNo\n", "0 mutants and 0 tests"),
        ("", "is empty"),
    ],
)
def test_other_kill_maps_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        read_major(save(tmp_path / "killMap.csv", text))
    assert sentence in str(error.value)


def test_a_wide_table(tmp_path: Path) -> None:
    text = "mutant,@rule,t1,t2,@line,t3\nm1,ROR,1,0,4,pass\nm2,AOR,time,exc,5,uncovered\n"
    found = read_plain(save(tmp_path / "k.csv", text))
    assert found.tests == ("t1", "t2", "t3")
    assert found.outcomes.tolist() == [[F, P, P], [T, C, N]]
    assert [mutant.rule for mutant in found.mutants] == ["ROR", "AOR"]
    assert [mutant.place.line for mutant in found.mutants if mutant.place] == [4, 5]
    assert found.gap == ""


def test_gaps_of_both_forms_are_named(tmp_path: Path) -> None:
    wide = read_plain(save(tmp_path / "w.csv", "m,t1,t2\na,1,\n"))
    long = read_plain(save(tmp_path / "l.csv", "mutant,test,result\na,t1,1\nb,t2,0\n"))
    assert wide.outcomes.tolist() == [[F, U]]
    assert long.outcomes.tolist() == [[F, U], [U, P]]
    assert wide.gap == long.gap == "of mutant 'a' nothing is told under test 't2'"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("m,t\na,2\n", "'2' in row 2"),
        ("m,t,t\na,1,1\n", "the test 't' twice"),
        ("m,t\na,1\na,0\n", "the mutant 'a' twice"),
        ("m,t\na\n", "1 cells in row 2 and 2"),
        ("mutant,test,result\na,t,1\na,t,0\n", "twice"),
        ("m,@line,t\na,x,1\n", "which is no number"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        read_plain(save(tmp_path / "k.csv", text))
    assert sentence in str(error.value)


def test_an_archive_with_and_without_names(tmp_path: Path) -> None:
    kills = np.array([[1, 0], [0, 1], [0, 0]])
    np.savez(tmp_path / "bare.npz", kills=kills)
    bare = read_arrays(tmp_path / "bare.npz")
    assert bare.outcomes.tolist() == [[F, P], [P, F], [P, P]]
    assert bare.tests == ("t0", "t1")
    np.savez(
        tmp_path / "named.npz",
        kills=kills.astype(bool),
        ran=np.array([[1, 1], [1, 1], [0, 1]], dtype=bool),
        mutants=np.array([7, 8, 9]),
        tests=np.array(["x", "y"]),
        rules=np.array(["r", "r", "s"]),
    )
    named = read_arrays(tmp_path / "named.npz")
    assert named.outcomes[2].tolist() == [U, P]
    assert [mutant.name for mutant in named.mutants] == ["7", "8", "9"]
    assert named.gap == "of mutant '9' nothing is told under test 'x'"


class Trap:
    """Unpickling it would leave a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    np.savez(tmp_path / "objects.npz", kills=np.array([[Trap(trap)]], dtype=object))
    with pytest.raises(UserError, match="no NumPy archive of plain arrays"):
        read_arrays(tmp_path / "objects.npz")
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(UserError, match="no NumPy archive of plain arrays"):
        read_arrays(tmp_path / "pickle.npz")
    assert not trap.exists()


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "big.npz", kills=np.zeros((100, 100), dtype=bool))
    assert read_arrays(tmp_path / "big.npz").outcomes.shape == (100, 100)
    monkeypatch.setattr("suiteopt.importers.arrays.UNPACKED_LIMIT", 5_000)
    with pytest.raises(UserError, match="unpacks to more"):
        read_arrays(tmp_path / "big.npz")


@pytest.mark.parametrize("rows", [1 << 45, 10**30])
def test_an_archive_that_promises_more_than_it_has_is_refused(tmp_path: Path, rows: int) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (rows, 1)}
    )
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("kills.npy", header.getvalue())
    with pytest.raises(UserError, match="no NumPy archive of plain arrays"):
        read_arrays(tmp_path / "bomb.npz")


def test_a_member_that_is_no_array_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("kills.npy", b"hello")
    with pytest.raises(UserError, match="'kills' is no array"):
        read_arrays(tmp_path / "text.npz")


@pytest.mark.parametrize("code", [0xD800, 0x7FFFFFFF])
def test_names_that_are_no_text_are_refused(tmp_path: Path, code: int) -> None:
    names = np.array([[code], [65]], dtype=np.uint32).view("<U1").ravel()
    np.savez(tmp_path / "k.npz", kills=np.zeros((2, 2), bool), mutants=names)
    with pytest.raises(UserError, match="a name in 'mutants' that is no text"):
        read_arrays(tmp_path / "k.npz")


@pytest.mark.parametrize("name", ["k.csv", "k.json", "k.xml", "k.npz"])
def test_pipes_and_devices_are_not_read(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)  # opening it would wait for somebody who writes
    with pytest.raises(UserError, match="is no regular file"):
        read_kill_map(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")  # of size 0, and without an end
    with pytest.raises(UserError, match="is no regular file"):
        read_kill_map(tmp_path / name)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"kills": np.zeros(3)}, "two-dimensional"),
        ({"kills": np.full((2, 2), 0.5)}, "truth values in 'kills'"),
        ({"kills": np.zeros((2, 2), bool), "ran": np.zeros((2, 1), bool)}, "'ran' in the shape"),
        ({"kills": np.zeros((2, 2), bool), "tests": np.array(["a", "a"])}, "the test 'a' twice"),
        ({"kills": np.zeros((2, 2), bool), "tests": np.array(["a"])}, "no 2 names in 'tests'"),
        ({"kills": np.zeros((2, 2), bool), "weights": np.zeros(2)}, "the array 'weights'"),
    ],
)
def test_other_archives_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], sentence: str
) -> None:
    np.savez(tmp_path / "k.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(UserError) as error:
        read_arrays(tmp_path / "k.npz")
    assert sentence in str(error.value)


def test_formats_are_told_by_name_and_header(tmp_path: Path) -> None:
    save(tmp_path / "killMap.csv", KILLS)
    assert detect(tmp_path) == Format.MAJOR
    assert detect(tmp_path / "killMap.csv") == Format.MAJOR
    assert detect(save(tmp_path / "k.csv", "m,t\na,1\n")) == Format.CSV
    assert detect(tmp_path / "mutations.XML") == Format.PIT
    assert detect(tmp_path / "m.json") == Format.STRYKER
    with pytest.raises(UserError, match="it cannot be told"):
        detect(tmp_path / "notes.txt")
    with pytest.raises(UserError, match="does not exist"):
        read_kill_map(tmp_path / "nothing.json")
