"""A report's page, parsed strictly: every tag closed in order, ids and references collected."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "input", "br", "wbr"})


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list["Node"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self._all()).split())

    def _all(self) -> Iterator[str]:
        yield from self.texts
        for child in self.children:
            yield " "
            yield from child._all()

    def find(self, tag: str, **attributes: str) -> list["Node"]:
        found = [
            child
            for child in self.children
            if child.tag == tag and all(child.attributes.get(k) == v for k, v in attributes.items())
        ]
        return found + [node for child in self.children for node in child.find(tag, **attributes)]

    def by_id(self, name: str) -> "Node":
        (found,) = [node for node in self.walk() if node.attributes.get("id") == name]
        return found

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.walk()


class Page(HTMLParser):
    """Raises on a tag that is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        if len(self.open) != 1:
            raise ValueError(f"<{self.open[-1].tag}> is not closed")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs})
        if len(node.attributes) != len(attrs):
            raise ValueError(f"<{tag}> has an attribute twice")
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].tag != tag:
            raise ValueError(f"</{tag}> closes <{self.open[-1].tag}>")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].texts.append(data)
