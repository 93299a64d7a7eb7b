"""A lexer for CUDA C++, as much as gathering many sources in one unit needs.

It knows where comments, literals and preprocessor lines begin and end, and loses no character:
joining the tokens' texts gives the source back.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class TokenKind(StrEnum):
    """What a token is."""

    SPACE = "space"
    COMMENT = "comment"
    DIRECTIVE = "directive"
    STRING = "string"
    NAME = "name"
    NUMBER = "number"
    PUNCTUATION = "punctuation"


class Token(NamedTuple):
    """A piece of source text.

    Attributes
    ----------
    kind : TokenKind
    text : str
    line : int
        Line on which it begins, from 1.
    """

    kind: TokenKind
    text: str
    line: int

    @property
    def significant(self) -> bool:
        """Whether the compiler's parser sees it."""
        return self.kind not in (TokenKind.SPACE, TokenKind.COMMENT, TokenKind.DIRECTIVE)


_TOKEN = re.compile(
    r"""
    (?P<directive>(?:(?<=\n)|(?<![\s\S]))[ \t]*\#(?://(?:\\\r?\n|[^\n])*|/\*[\s\S]*?\*/|\\\r?\n|[^\n])*)
  | (?P<space>\n|[ \t\r\f\v]+|\\\r?\n)
  | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*[\s\S]*?(?:\*/|$(?![\s\S])))
  | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\([\s\S]*?\)(?P=delimiter)"
      | (?:u8|[uUL])?"(?:\\[\s\S]|[^"\\\n])*"
      | (?:u8|[uUL])?'(?:\\[\s\S]|[^'\\\n])*')
  | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*)
  | (?P<punctuation>[\s\S])
    """,
    re.VERBOSE,
)

_KINDS = {kind.value: kind for kind in TokenKind} | {"delimiter": TokenKind.STRING}


def tokenize(text: str) -> Iterator[Token]:
    """Split a source into tokens.

    Parameters
    ----------
    text : str
        Source text; it need not be valid.

    Yields
    ------
    Token
        In order; their texts joined are the source.
    """
    line = 1
    for match in _TOKEN.finditer(text):
        piece = match.group()
        yield Token(_KINDS[match.lastgroup or "string"], piece, line)
        if "\n" in piece:
            line += piece.count("\n")
