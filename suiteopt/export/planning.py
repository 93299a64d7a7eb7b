"""Which files an export writes, and what its manifest says before, during and after."""

from dataclasses import replace
from pathlib import Path, PurePosixPath

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.manifest import Entry, Manifest, State
from suiteopt.export.present import Originals, require_home
from suiteopt.export.seeds import PrivateSeeds
from suiteopt.export.target import RenderedFile, Target
from suiteopt.export.transaction import TEMPORARY_SUFFIX, Change
from suiteopt.matrix.files import sha256
from suiteopt.suite import Suite


def check_places(target: Target, rendered: tuple[RenderedFile, ...]) -> None:
    """Refuse a rendering that leaves the target's home, or that writes a file twice."""
    for file in rendered:
        require_home(target, file.path)
    paths = [file.path for file in rendered]
    if len(set(paths)) != len(paths):
        raise UserError(f"two problems of the suite share a file of {target.name}")


def plan_manifest(
    target: Target,
    suite: Suite,
    rendered: tuple[RenderedFile, ...],
    originals: Originals,
    seeds: PrivateSeeds | None,
) -> Manifest:
    """Return the manifest after the export, without its directories."""
    kept, entries = [], []
    for file in rendered:
        original = originals.read(file.path)
        before = None if original is None else sha256(original)
        preserved = None
        if original is not None:
            preserved = target.preserved_path(file.path)
            kept.append(Entry(preserved, None, sha256(original)))
        entries.append(Entry(file.path, before, sha256(file.content), preserved))
    return Manifest(
        target=target.name,
        options=target.options,
        suite=suite,
        state=State.COMPLETE,
        entries=(*kept, *entries),
        seeds=seeds,
    )


def plan_changes(
    target: Target,
    rendered: tuple[RenderedFile, ...],
    originals: Originals,
    old: Manifest | None,
) -> list[Change]:
    """Return all changes in a safe order: kept originals, files, what is no longer needed."""
    kept = []
    for file in rendered:
        original = originals.read(file.path)
        if original is not None:
            kept.append(Change(target.preserved_path(file.path), original))
    written = [*kept, *(Change(file.path, file.content) for file in rendered)]
    paths = {change.path for change in written}
    gone = [entry for entry in (old.entries if old else ()) if entry.path not in paths]
    restored = [
        Change(entry.path, originals.read(entry.path)) for entry in gone if entry.before is not None
    ]
    deleted = [Change(entry.path, None) for entry in gone if entry.before is None]
    return [*written, *restored, *deleted]


def under_way(old: Manifest | None, new: Manifest, state: State) -> Manifest:
    """Return the manifest of a change under way: all that either export knows."""
    entries = []
    for entry in new.entries:
        former = old.entry(entry.path) if old else None
        previous = (former.after, *former.previous) if former else ()
        entries.append(
            Entry(
                entry.path,
                entry.before,
                entry.after,
                entry.preserved,
                tuple(dict.fromkeys(value for value in previous if value is not None)),
            )
        )
    paths = {entry.path for entry in entries}
    entries.extend(entry for entry in (old.entries if old else ()) if entry.path not in paths)
    return replace(new, state=state, entries=tuple(entries))


def new_directories(checkout: Checkout, paths: list[str], old: Manifest | None) -> tuple[str, ...]:
    """Return the directories that exports made or make, parents first."""
    made = set(old.directories) if old else set()
    for path in paths:
        for parent in PurePosixPath(path).parents:
            if str(parent) != "." and _is_bare(checkout.locate(str(parent))):
                made.add(str(parent))
    return tuple(sorted(made))


def _is_bare(directory: Path) -> bool:
    """Whether a directory is absent, or holds only what an export killed early left behind."""
    return all(
        place.is_dir() or place.name.endswith(TEMPORARY_SUFFIX) for place in directory.rglob("*")
    )
