"""XML without the dangerous half: no document type, so no entities to expand or fetch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from suiteopt.errors import UserError
from suiteopt.importers.files import read_text


@dataclass
class Element:
    """One record: attributes, and the text of everything below it by tag.

    Attributes
    ----------
    attributes : mapping of str to str
    texts : mapping of str to str
        Of the last element with the tag.
    lists : mapping of str to list of str
        Of all of them.
    """

    attributes: Mapping[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


class _Reader:
    def __init__(self, path: Path, root: str, record: str) -> None:
        self.path, self.root, self.record = path, root, record
        self.found: list[Element] = []
        self.open: Element | None = None
        self.text: list[str] = []
        self.depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.depth == 0 and tag != self.root:
            raise UserError(
                f"{self.path} is a <{tag}> and no <{self.root}>; give the report that PIT writes"
            )
        self.depth += 1
        self.text.clear()
        if tag == self.record and self.open is None:
            self.open = Element(dict(attributes))

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self.open is not None and tag == self.record:
            self.found.append(self.open)
            self.open = None
        elif self.open is not None:
            text = "".join(self.text).strip()
            self.open.texts[tag] = text
            self.open.lists.setdefault(tag, []).append(text)
        self.text.clear()

    def refuse(self, *_: object) -> NoReturn:
        raise UserError(
            f"{self.path} declares a document type, which no report needs and which entities hide "
            "in; give the file as the tool wrote it"
        )


def read_elements(path: Path, root: str, record: str) -> list[Element]:
    """Return the records of a report, in their order.

    Raises
    ------
    UserError
        If the file is no well-formed XML, has another root, or declares a document type.
    """
    reader = _Reader(path, root, record)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text.append
    parser.StartDoctypeDeclHandler = reader.refuse
    try:
        # As text: a declared encoding other than UTF-8 was refused when the file was read.
        parser.Parse(read_text(path), True)
    except expat.ExpatError as error:
        raise UserError(f"{path} is no well-formed XML ({error}); write it again") from error
    return reader.found
