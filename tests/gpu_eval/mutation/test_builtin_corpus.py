"""What the rules make of the problems that ship."""

from collections import Counter

import pytest

from gpu_eval.mutation.parser import parse
from gpu_eval.problems.definition import Problem, Substrate
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Family, OperationClass
from tests.gpu_eval.mutation.corpus import ALL_PAIRS, CORPUS, made, still_parses


def test_ids_are_unique_in_the_corpus() -> None:
    ids = Counter(
        fault.id for problem, substrate in ALL_PAIRS for fault in made(problem, substrate)[1]
    )
    assert ids.most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("problem", "substrate"), ALL_PAIRS, ids=[f"{p.id}-{s.name}" for p, s in ALL_PAIRS]
)
def test_faults_of_a_substrate(problem: Problem, substrate: Substrate) -> None:
    files, found = made(problem, substrate)
    assert len(found) >= 40
    families = {fault.family for fault in found}
    wanted = set(Family)
    if not any("__sync" in text or "__shfl" in text for text in files.values()):
        wanted.remove(Family.SYNCHRONIZATION)
    if problem.operation_class is OperationClass.ARGUMENT_REDUCTION:
        wanted.remove(Family.ARITHMETIC)  # elements are compared, not computed with
    assert families >= wanted
    for fault in found:
        if fault.plan is None:
            text, span = files[fault.span.file], fault.span
            assert fault.before != fault.after
            assert text.encode()[span.start : span.end].decode() == fault.before
            assert still_parses(span.file, text, span.start, span.end, fault.after), fault.id
        else:
            assert fault.apply(files) == files
            assert fault.plan != substrate.plan


def test_incremental_parsing_is_parsing() -> None:
    problem = CORPUS.problem("level1/040")
    files, found = made(problem, problem.substrates[0])
    for fault in found:
        if fault.plan is None:
            parse(fault.span.file, fault.apply(files)[fault.span.file])
    name = problem.substrates[0].source
    text = files[name]
    at = text.encode().index(b"__syncthreads();")
    for broken in ("if (", "{", "}"):
        assert not still_parses(name, text, at, at + 1, broken)
        with pytest.raises(UserError):
            parse(name, text.encode()[:at].decode() + broken + text.encode()[at + 1 :].decode())
