from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.compilation.tokens import TokenKind, tokenize

PIECES = st.sampled_from(
    [
        "#",
        "\n",
        " ",
        "\\\n",
        "//",
        "/*",
        "*/",
        '"',
        "'",
        'R"(',
        ')"',
        "\\",
        "a1",
        "0x1p-3f",
        "{",
        "\r",
    ]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join))
def test_nothing_is_lost(text: str) -> None:
    tokens = list(tokenize(text))
    assert "".join(token.text for token in tokens) == text
    line = 1
    for token in tokens:
        assert token.line == line
        line += token.text.count("\n")


def kinds(text: str) -> list[tuple[TokenKind, str]]:
    return [(t.kind, t.text) for t in tokenize(text) if t.kind is not TokenKind.SPACE]


def test_directives_strings_and_comments() -> None:
    text = '#define A(b) \\\n   "x" // y\n  # if 0 /* #\n */ 1\n'
    text += 'x = "// #\\"" R"d(\n#no )" )d" \'#\'; # no\n'
    assert kinds(text) == [
        (TokenKind.DIRECTIVE, '#define A(b) \\\n   "x" // y'),
        (TokenKind.DIRECTIVE, "  # if 0 /* #\n */ 1"),
        (TokenKind.NAME, "x"),
        (TokenKind.PUNCTUATION, "="),
        (TokenKind.STRING, '"// #\\""'),
        (TokenKind.STRING, 'R"d(\n#no )" )d"'),
        (TokenKind.STRING, "'#'"),
        (TokenKind.PUNCTUATION, ";"),
        (TokenKind.PUNCTUATION, "#"),
        (TokenKind.NAME, "no"),
    ]


def test_numbers_are_one_token() -> None:
    for number in ("1.5e-3f", "0x1p-3f", "1'000'000ull", ".5f", "1.", "0b101u"):
        assert kinds(number) == [(TokenKind.NUMBER, number)]
