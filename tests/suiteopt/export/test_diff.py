import subprocess
from pathlib import Path

import pytest

from suiteopt.export.checkout import Checkout
from suiteopt.export.diff import diff_changes
from suiteopt.export.transaction import Change, apply_changes
from tests.suiteopt.export.samples import commit_all, tree

PLAIN = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

CASES = {
    "changed": (PLAIN, PLAIN.replace(b"four", b"4")),
    "created": (None, PLAIN),
    "deleted": (PLAIN, None),
    "emptied": (PLAIN, b""),
    "no newline before": (b"one\ntwo", b"one\ntwo\n"),
    "no newline after": (b"one\ntwo\n", b"one\ntwo"),
    "no newline at all": (b"one", b"two"),
    "created without newline": (None, b"one"),
    "carriage returns": (b"one\r\ntwo\r\n", b"one\r\n2\r\n"),
    "form feed and separators": (b"a\x0cb\x1cc\n\xc2\x85d\n", b"a\x0cb\x1cC\n\xc2\x85d\n"),
    "latin-1": (b"caf\xe9\n", b"caf\xe9s\n"),
    "far apart": (PLAIN * 5, b"0\n" + PLAIN * 5 + b"8\n"),
}


PATHS = ("deep/er/with space.txt", 'quote"d.py', "ümlaut.py")


@pytest.mark.parametrize(
    ("case", "path"),
    [
        *((case, "file.py") for case in CASES),
        *((case, path) for case in ("changed", "created", "deleted") for path in PATHS),
    ],
)
def test_git_apply_makes_the_same_change(case: str, path: str, tmp_path: Path) -> None:
    before, after = CASES[case]
    places = [tmp_path / "patched", tmp_path / "written"]
    for place in places:
        (place / path).parent.mkdir(parents=True)
        (place / "other").write_text("stays\n")
        if before is not None:
            (place / path).write_bytes(before)
    commit_all(places[0])
    checkout = Checkout(places[0])
    diff = diff_changes(checkout, [Change(path, after)])
    assert checkout.read(path) == before
    subprocess.run(
        ["git", "-C", str(places[0]), "apply", "-"],
        input=diff.encode(errors="surrogateescape"),
        check=True,
        capture_output=True,
    )
    apply_changes(Checkout(places[1]), [Change(path, after)])
    assert checkout.read(path) == after
    assert {k: v for k, v in tree(places[0]).items() if v != "dir"} == {
        k: v for k, v in tree(places[1]).items() if v != "dir"
    }


def test_nothing_to_change_is_an_empty_diff(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(PLAIN)
    assert diff_changes(Checkout(tmp_path), [Change("file", PLAIN), Change("none", None)]) == ""


def test_an_executable_file_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_bytes(PLAIN)
    path.chmod(0o755)
    assert "deleted file mode 100755" in diff_changes(Checkout(tmp_path), [Change("script", None)])
