"""A benchmark's checkout: what stands in it, and whether git holds it safe."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256


class Checkout:
    """A directory that an export changes. Paths are relative to it, with forward slashes.

    Parameters
    ----------
    root : Path

    Raises
    ------
    UserError
        If there is no such directory.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise UserError(f"there is no directory {root}; give the checkout of the benchmark")
        self.root = root.resolve()

    def locate(self, path: str) -> Path:
        """Return where a path lies; it may neither leave the checkout nor follow a link.

        Raises
        ------
        UserError
        """
        parts = PurePosixPath(path).parts
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts or "\\" in path:
            raise UserError(f"the path '{path}' leaves the checkout {self.root}; nothing was done")
        place = self.root
        for part in parts:
            place = place / part
            if place.is_symlink():
                raise UserError(
                    f"{place} is a symbolic link, and an export does not write through links; "
                    "replace it by what it points to"
                )
        return place

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None where there is no such file.

        Raises
        ------
        UserError
            If it is there but cannot be read, or is no file.
        """
        place = self.locate(path)
        try:
            return place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UserError(f"{place} cannot be read: {error.strerror}") from error

    def hash(self, path: str) -> str | None:
        """Return a file's SHA-256, or None where there is no such file."""
        content = self.read(path)
        return None if content is None else sha256(content)

    def require_clean(self, paths: Iterable[str]) -> None:
        """Refuse when git knows this checkout and a path differs from what is committed.

        Other files may be as they are. A directory that git does not know is let through.

        Raises
        ------
        UserError
        """
        wanted = sorted(paths)
        if not wanted or not self._tracked():
            return
        # --untracked-files=all: a whole new directory would otherwise hide the file in question
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        literal = [f":(literal){path}" for path in wanted]
        status = self._git("status", *options, "--", *literal)
        changed = [entry[3:] for entry in status.split("\0") if entry]
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            raise UserError(
                f"{changed[0]}{more} in {self.root} has changes that are not committed; commit or "
                "stash them first, so that nothing can be lost"
            )

    def ignored(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that git would not add because an ignore file names them."""
        wanted = sorted(paths)
        if not wanted or not self._tracked():
            return ()
        listed = self._git("check-ignore", "--", *wanted, accept=(0, 1))
        return tuple(entry for entry in listed.splitlines() if entry)

    def _tracked(self) -> bool:
        """Whether git tracks anything here: a copy inside a foreign repository does not count."""
        inside = any((place / ".git").exists() for place in (self.root, *self.root.parents))
        if not inside:
            return False
        if shutil.which("git") is None:
            raise UserError(
                f"{self.root} is a git checkout and git is not installed, so nobody can tell "
                "whether its files are committed; install git"
            )
        return bool(self._git("ls-files", "-z", "--", "."))

    def _git(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> str:
        result = subprocess.run(
            # No lock, no index refresh, no fsmonitor program: this only reads.
            [
                *("git", "--no-optional-locks", "-C", str(self.root)),
                *("-c", "core.fsmonitor=false", *arguments),
            ],
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if result.returncode not in accept:
            lines = result.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise UserError(f"git cannot tell the state of {self.root}: {lines[0]}")
        return result.stdout.decode(errors="surrogateescape")
