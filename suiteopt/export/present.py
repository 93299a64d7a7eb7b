"""What export a checkout holds now, and what stood there before any."""

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.manifest import Manifest, read_manifest
from suiteopt.export.registry import get_target, target_references
from suiteopt.export.target import Target
from suiteopt.matrix.files import sha256


def resolve_export(checkout: Checkout, target: Target | str | None = None) -> Target:
    """Return the target whose export a directory holds, with the options that it was made with.

    Raises
    ------
    UserError
        If the directory holds no export of a known target, or several and none was named.
    """
    if isinstance(target, Target):
        return target
    names = [target] if target is not None else list(target_references())
    found = []
    for name in names:
        kind = get_target(name)
        manifest = read_export(checkout, kind)
        if manifest is not None and manifest.target == name:
            found.append(get_target(name, **manifest.options))
    if not found:
        raise UserError(
            f"{checkout.root} holds no export{f' to {names[0]}' if target else ''}; make one with "
            "'suiteopt export SUITE --to TARGET --repo DIR'"
        )
    if len(found) > 1:
        raise UserError(
            f"{checkout.root} holds exports to {', '.join(kind.name for kind in found)}; "
            "say which one is meant"
        )
    return found[0]


class Originals:
    """What stood in a checkout before any export, whatever stands there now."""

    def __init__(self, checkout: Checkout, target: Target, manifest: Manifest | None) -> None:
        self._checkout = checkout
        self._target = target
        self._manifest = manifest
        for entry in manifest.entries if manifest else ():
            if not entry.knows(checkout.hash(entry.path)):
                raise UserError(
                    f"{entry.path} in {checkout.root} was changed since the export; restore it "
                    "from version control or from the export, so that no edit is lost"
                )

    def exported(self, path: str) -> bool:
        """Whether what stands there now was written by an export."""
        entry = self._manifest.entry(path) if self._manifest else None
        return entry is not None and entry.exported(self._checkout.hash(path))

    def read(self, path: str) -> bytes | None:
        """Return the original bytes of a path, or None where there was no file."""
        entry = self._manifest.entry(path) if self._manifest else None
        content = self._checkout.read(path)
        if entry is None:
            return content
        if entry.before is None or (content is not None and sha256(content) == entry.before):
            return content if entry.before is not None else None
        kept = self._checkout.read(entry.preserved or self._target.preserved_path(path))
        if kept is None or sha256(kept) != entry.before:
            raise UserError(
                f"the kept original of {path} in {self._checkout.root} is missing or damaged; "
                "restore that file from version control"
            )
        return kept


def read_export(checkout: Checkout, target: Target) -> Manifest | None:
    """Return the manifest of a target's export in a checkout, or None.

    Raises
    ------
    UserError
        If it is damaged, or names a place outside the target's home.
    """
    data = checkout.read(target.manifest_path)
    if data is None:
        return None
    manifest = read_manifest(data, str(checkout.root / target.manifest_path))
    for entry in manifest.entries:  # a foreign manifest must not lead out of the target's home
        require_home(target, entry.path)
    for directory in manifest.directories:
        if not any(entry.path.startswith(f"{directory}/") for entry in manifest.entries):
            require_home(target, directory)
    return manifest


def require_home(target: Target, path: str) -> None:
    """Refuse a path that exports to a target do not write."""
    if not target.owns(path):
        raise UserError(
            f"'{path}' lies outside {target.home}, where all of an export to {target.name} lies; "
            "nothing was changed"
        )
