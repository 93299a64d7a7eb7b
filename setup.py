"""Build step that `pyproject.toml` cannot say: the default matrix ships inside the package."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

MATRICES = Path(__file__).parent / "matrices"


class BuildWithDefaultMatrix(build_py):
    """Copies the matrix that ``matrices/DEFAULT`` names into ``suiteopt/data``."""

    def run(self) -> None:
        """Build, then copy; an editable install reads the checkout's own directory."""
        super().run()
        marker = MATRICES / "DEFAULT"
        if self.editable_mode or not marker.is_file():
            return
        name = marker.read_text(encoding="utf-8").strip()
        data = Path(self.build_lib) / "suiteopt" / "data"
        shutil.copytree(MATRICES / name, data / name, dirs_exist_ok=True)
        shutil.copyfile(marker, data / "DEFAULT")


setup(cmdclass={"build_py": BuildWithDefaultMatrix})
