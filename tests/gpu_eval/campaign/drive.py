"""Run or resume a campaign on the fake device in a process of its own: something to kill."""

import json
import resource
import sys
from pathlib import Path

from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice


def main(command: str, corpus: str, root: str, options: str) -> int:
    """Do as told; print one sentence and return 2 where a user would see one."""
    asked = json.loads(options)
    if "file_limit" in asked:
        # Every write beyond it fails as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["file_limit"], resource.RLIM_INFINITY))
    device = FakeDevice(acts=asked.get("acts", {}), pause=asked.get("pause", 0.0))
    try:
        if command == "start":
            start(Path(root), tiny.settings(Path(corpus)), device, Silent())
        else:
            resume(Path(root), device, Silent())
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
