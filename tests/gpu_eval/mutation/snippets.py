"""Snippets as the tests of rules see them: statements inside a kernel with a few declarations."""

from gpu_eval.mutation.contexts import build_contexts
from gpu_eval.mutation.parser import parse_all
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.sites import Edit, SourceContext

HEAD = """constexpr float kHuge = 1e30f;
__global__ void kernel(const float* x, const float* g, float* y, int n, int m, float eps) {
  __shared__ float tile[64];
  __shared__ float plane[8][9];
  int t, i;
  float v, w, acc = v;
  float4 q;
"""
TAIL = "\n}\n"


def whole(body: str, prelude: str = "") -> str:
    """Return a file whose kernel holds the statements."""
    return prelude + HEAD + body + TAIL


def context(text: str, name: str = "kernel.cu") -> SourceContext:
    return build_contexts(parse_all({name: text}))[name]


def edits(rule: Rule, text: str) -> list[Edit]:
    return sorted(set(rule.sites(context(text))))


def applied(edit: Edit, text: str) -> str:
    data = text.encode()
    return (data[: edit.start] + edit.after.encode() + data[edit.end :]).decode()


def results(rule: Rule, body: str, prelude: str = "") -> list[str]:
    """Return the statements after each edit of a rule in them; edits elsewhere do not count."""
    text = whole(body, prelude)
    start = len((prelude + HEAD).encode())
    found = [applied(e, text) for e in edits(rule, text) if e.start >= start]
    return [after[len(prelude + HEAD) : -len(TAIL)] for after in found]
