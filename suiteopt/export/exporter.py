"""Exporting a suite into a benchmark's checkout, and taking it out again.

An export is a change that a maintainer can read (``dry_run`` gives it as a diff), commit, repeat
(the same suite gives the same bytes) and undo to the byte. Originals of replaced files are kept in
the checkout; the manifest says what stood where.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.diff import diff_changes
from suiteopt.export.manifest import Manifest, State
from suiteopt.export.planning import (
    check_places,
    new_directories,
    plan_changes,
    plan_manifest,
    under_way,
)
from suiteopt.export.present import Originals, read_export, resolve_export
from suiteopt.export.registry import get_target, target_references
from suiteopt.export.reports import ExportReport, RemovalReport
from suiteopt.export.seeds import PrivateSeeds
from suiteopt.export.shortened import shortened
from suiteopt.export.target import Target
from suiteopt.export.transaction import (
    TEMPORARY_SUFFIX,
    Change,
    apply_changes,
    temporaries_of,
    temporary_files,
)
from suiteopt.suite import Suite


def export(
    suite: Suite,
    target: Target | str,
    repo: Path,
    dry_run: bool = False,
    seeds: PrivateSeeds | None = None,
    allow_dirty: bool = False,
) -> ExportReport:
    """Write a suite into a checkout of its target.

    Parameters
    ----------
    suite : Suite
    target : Target or str
    repo : Path
        The checkout. It is changed under ``target.home`` and at ``target.touches`` only.
    dry_run : bool
        Change nothing, and give the change as a diff.
    seeds : PrivateSeeds or None
        Where the suite's seeds come from, if they were made private (`seeds.reseed`).
    allow_dirty : bool
        Also replace files whose content is not committed; it is kept, and removal restores it.

    Returns
    -------
    ExportReport

    Raises
    ------
    UserError
        If the suite does not fit the target, the directory is no checkout of it, a file that
        would change is not committed or was edited since the last export, or something cannot
        be written. The checkout is then as it was.
    """
    kind = get_target(target) if isinstance(target, str) else target
    # What is exported is what the suite's file would say: plain types, in one order.
    suite = Suite.from_json(suite.to_json())
    kind.check(suite)
    checkout = Checkout(repo)
    kind.recognise(checkout.root)
    suite, left_out = kind.restrict(suite, checkout.root)
    old = read_export(checkout, kind)
    originals = Originals(checkout, kind, old)
    rendered = kind.render(suite, checkout.root, originals.read, kind.preserved_path)
    check_places(kind, rendered)
    changes = plan_changes(kind, rendered, originals, old)
    edited = [change for change in changes if checkout.read(change.path) != change.content]
    if not allow_dirty:
        checkout.require_clean(
            change.path
            for change in edited
            if checkout.read(change.path) is not None and not originals.exported(change.path)
        )
    new = plan_manifest(kind, suite, rendered, originals, seeds)
    new = replace(new, directories=new_directories(checkout, [e.path for e in new.entries], old))
    manifest = Change(kind.manifest_path, new.to_json())
    if checkout.read(kind.manifest_path) == manifest.content:
        manifests: tuple[Change, ...] = ()
    else:
        manifests = (manifest,)
    report = _report(checkout, kind, suite, new, (*edited, *manifests), dry_run, left_out)
    if not dry_run:
        if edited or manifests:
            pending = Change(kind.manifest_path, under_way(old, new, State.EXPORTING).to_json())
            apply_changes(checkout, [pending, *edited, manifest])
        _sweep(checkout, kind, new)
    return report


def remove(repo: Path, target: Target | str | None = None) -> RemovalReport:
    """Take an export out: every file as it was before, to the byte.

    This also mends a checkout in which an export or a removal was killed half-way.

    Parameters
    ----------
    repo : Path
    target : Target or str or None
        None finds out which known target's export the directory holds.

    Raises
    ------
    UserError
        If there is no export, if one of its files was changed since, or if something cannot be
        written. The checkout is then as it was.
    """
    checkout = Checkout(repo)
    try:
        kind = resolve_export(checkout, target)
    except UserError:
        swept = _sweep_known(checkout, target)
        if swept is None:
            raise
        return swept
    old = read_export(checkout, kind)
    if old is None:
        raise UserError(f"{checkout.root} holds no export to {kind.name}; there is none to remove")
    originals = Originals(checkout, kind, old)
    restore, delete = [], []
    for entry in old.entries:
        if entry.before is not None:
            restore.append(Change(entry.path, originals.read(entry.path)))
        else:
            delete.append(Change(entry.path, None))
    # Replaced files first: their preserved copies are among those deleted after.
    changes = [
        change for change in (*restore, *delete) if checkout.read(change.path) != change.content
    ]
    pending = Change(kind.manifest_path, replace(old, state=State.REMOVING).to_json())
    apply_changes(checkout, [pending, *changes])
    _sweep(checkout, kind, old)
    for directory in reversed(old.directories):
        place = checkout.locate(directory)
        # What Python made of the exported modules goes with them.
        shutil.rmtree(place / "__pycache__", ignore_errors=True)
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
    # The manifest goes last of all: until then, removing again goes on where this one died.
    apply_changes(checkout, [Change(kind.manifest_path, None)])
    for directory in reversed(old.directories):  # those that held the manifest
        place = checkout.locate(directory)
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
    return RemovalReport(
        target=kind.name,
        repo=str(checkout.root),
        restored=tuple(change.path for change in restore),
        deleted=(*(change.path for change in delete), kind.manifest_path),
    )


def _sweep(checkout: Checkout, target: Target, manifest: Manifest | None = None) -> tuple[str, ...]:
    """Remove what a killed process left: temporary files, and directories without any file."""
    temporaries = temporary_files(checkout.locate(target.home))
    if manifest is None:  # nothing says which files were about to be changed
        temporaries += [
            place for pattern in target.touches for place in _matching(checkout, pattern)
        ]
    for entry in manifest.entries if manifest else ():
        temporaries += temporaries_of(checkout.locate(entry.path))
    for temporary in temporaries:
        temporary.unlink(missing_ok=True)
    support = checkout.locate(target.support)
    below = sorted((place for place in support.rglob("*") if place.is_dir()), reverse=True)
    held = [place for temporary in temporaries for place in temporary.parents]
    nested = sorted(set(held), key=lambda place: -len(place.parts))
    for directory in (*below, support, *nested):
        inside = directory.is_relative_to(checkout.root) and directory != checkout.root
        if inside and directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()
    return tuple(path.relative_to(checkout.root).as_posix() for path in temporaries)


def _matching(checkout: Checkout, pattern: str) -> list[Path]:
    """Return the temporary files of all files of a pattern, as `Target.touches` has it."""
    head, _, name = pattern.rpartition("/")
    found = checkout.root.glob(f"{head}/.{name}.*{TEMPORARY_SUFFIX}".lstrip("/"))
    return [checkout.locate(place.relative_to(checkout.root).as_posix()) for place in sorted(found)]


def _sweep_known(checkout: Checkout, target: Target | str | None) -> RemovalReport | None:
    """Clean up after an export that was killed before it changed anything; None: there is none."""
    if isinstance(target, Target):
        kinds = [target]
    else:
        kinds = [get_target(name) for name in ([target] if target else target_references())]
    for kind in kinds:
        if checkout.read(kind.manifest_path) is None:
            swept = _sweep(checkout, kind)
            if swept:
                return RemovalReport(kind.name, str(checkout.root), (), swept)
    return None


def _report(
    checkout: Checkout,
    target: Target,
    suite: Suite,
    manifest: Manifest,
    edited: tuple[Change, ...],
    dry_run: bool,
    left_out: tuple[str, ...],
) -> ExportReport:
    present = {change.path: checkout.read(change.path) is not None for change in edited}
    written = [change.path for change in edited if change.content is not None]
    ignored = checkout.ignored([*(entry.path for entry in manifest.entries), target.manifest_path])
    return ExportReport(
        target=target.name,
        repo=str(checkout.root),
        suite_hash=suite.hash,
        members=suite.members,
        files=len(manifest.entries) + 1,
        changed=tuple(path for path in written if present[path]),
        created=tuple(path for path in written if not present[path]),
        removed=tuple(change.path for change in edited if change.content is None),
        notes=(*left_out, *target.notes(suite), *_ignored_note(ignored)),
        dry_run=dry_run,
        diff=diff_changes(checkout, edited) if dry_run else "",
        shortened=shortened(suite),
    )


def _ignored_note(ignored: tuple[str, ...]) -> tuple[str, ...]:
    if not ignored:
        return ()
    return (
        f"git ignores {', '.join(ignored)} in this checkout: "
        f"commit with 'git add --force {' '.join(ignored)}'",
    )
