"""What MkDocs cannot do on its own: the README as the first page, and the commands' reference."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

INDEX = "index.md"
COMMANDS = "reference/commands.md"
APPS = {"suiteopt": "suiteopt.cli.main", "gpu-eval": "gpu_eval.cli.main"}
_LINK = re.compile(r"\[([^\]\n]*)\]\((?!https?://|#)([^)\s]+)\)")


def on_page_read_source(page: Any, config: Any) -> str | None:
    """Return the source of the pages that are made; None (as it lies there) for others."""
    root = Path(config.config_file_path).parent
    if page.file.src_uri == INDEX:
        return site_links((root / "README.md").read_text("utf-8"))
    if page.file.src_uri == COMMANDS:
        own = Path(page.file.abs_src_path).read_text("utf-8")
        return "\n".join([own, *(command_reference(name) for name in APPS)])
    return None


def site_links(text: str) -> str:
    """Rewrite links of a file in the root: into ``docs/`` as here, others as the file's name."""

    def rewritten(match: re.Match[str]) -> str:
        label, place = match.groups()
        if place.startswith("docs/"):
            return f"[{label}]({place.removeprefix('docs/')})"
        return f"{label} (`{place}`)"

    return _LINK.sub(rewritten, text)


def command_reference(name: str) -> str:
    """Return the help of a command and all below it as Markdown, its headings one level down."""
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    command = get_command(import_module(APPS[name]).app)
    context = command.make_context(name, [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name=name)
    return re.sub(r"(?m)^(#+ )", r"#\1", text)
