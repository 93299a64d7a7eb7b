"""Campaigns in sittings: what is packed, and that it goes on from there."""

import signal
import sys
import time
from pathlib import Path

import pytest

from experiments import gpu_campaign
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_device_lost import Notes


class Stop(Notes):
    """Interrupts a campaign after so many cells."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def cells(self, done: int, total: int, before: int = 0) -> None:
        if done >= self.after:
            raise KeyboardInterrupt


def test_a_packed_campaign_goes_on_elsewhere(tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    settings = tiny.settings(corpus, problems=("test/two",))
    whole, root = tmp_path / "whole", tmp_path / "matrix"
    start(whole, settings, FakeDevice(), Silent())
    with pytest.raises(UserError, match="interrupted"):
        start(root, settings, FakeDevice(pause=0.002), Stop(200))
    layout = Layout(root)
    assert layout.cache.exists()
    done = sorted(path.name for path in layout.shards.iterdir())
    parts = gpu_campaign.pack(root, tmp_path / "pack")
    assert [part.name for part in parts] == ["campaign.tar.gz.000"]
    root.rename(tmp_path / "gone")
    gpu_campaign.unpack(tmp_path / "pack", root)
    assert sorted(path.name for path in layout.shards.iterdir()) == done
    assert not layout.cache.exists()
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == tiny.cell_hashes(whole)


def test_parts_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_campaign, "PART_BYTES", 1000)
    root = tmp_path / "matrix"
    (root / "cells").mkdir(parents=True)
    content = b"".join(bytes([i * i % 251, i % 256]) for i in range(5000))
    (root / "cells" / "one.parquet").write_bytes(content)
    parts = gpu_campaign.pack(root, tmp_path / "pack")
    assert len(parts) > 1
    assert max(part.stat().st_size for part in parts) == 1000
    gpu_campaign.unpack(tmp_path / "pack", tmp_path / "again")
    assert (tmp_path / "again" / "cells" / "one.parquet").read_bytes() == content


def test_what_cannot_be_unpacked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no campaign"):
        gpu_campaign.unpack(tmp_path, tmp_path / "new")
    (tmp_path / f"{gpu_campaign.PREFIX}000").write_bytes(b"x")
    with pytest.raises(UserError, match="is there already"):
        gpu_campaign.unpack(tmp_path, tmp_path)


def test_the_end_of_a_sitting_never_loses_the_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal may come when the campaign no longer listens: while its table is printed."""

    def printing() -> None:
        time.sleep(30)

    monkeypatch.setattr("gpu_eval.cli.main.run", printing)
    monkeypatch.setattr(sys, "argv", sys.argv)
    root = tmp_path / "matrix"
    (root / "cells").mkdir(parents=True)
    (root / "cells" / "one.parquet").write_bytes(b"cells")
    handlers = [signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)]
    try:
        code = gpu_campaign.main(
            ["--output", str(root), "--pack", str(tmp_path / "pack"), "--seconds", "0.2"]
        )
    finally:
        signal.signal(signal.SIGTERM, handlers[0])
        signal.signal(signal.SIGINT, handlers[1])
    assert code == 2
    gpu_campaign.unpack(tmp_path / "pack", tmp_path / "again")
    assert (tmp_path / "again" / "cells" / "one.parquet").read_bytes() == b"cells"
