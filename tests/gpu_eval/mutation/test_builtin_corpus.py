"""What the rules make of the problems that ship."""

from collections import Counter

import pytest

from gpu_eval.mutation.catalogue import faults
from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.parser import parse
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import load_corpus, sources
from suiteopt.matrix.schema import Family, OperationClass

CORPUS = load_corpus()
PAIRS = [(p, s) for p in CORPUS.problems.values() for s in p.substrates]


def made(problem: Problem, substrate: Substrate) -> tuple[Fault, ...]:
    return faults(problem, substrate, sources(problem, substrate), substrate.plan)


def test_ids_are_unique_in_the_corpus() -> None:
    ids = Counter(fault.id for problem, substrate in PAIRS for fault in made(problem, substrate))
    assert ids.most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("problem", "substrate"), PAIRS, ids=[f"{p.id}-{s.name}" for p, s in PAIRS]
)
def test_faults_of_a_substrate(problem: Problem, substrate: Substrate) -> None:
    files = sources(problem, substrate)
    found = made(problem, substrate)
    assert len(found) >= 40
    families = {fault.family for fault in found}
    wanted = set(Family)
    if not any("__sync" in text or "__shfl" in text for text in files.values()):
        wanted.remove(Family.SYNCHRONIZATION)
    if problem.operation_class is OperationClass.ARGUMENT_REDUCTION:
        wanted.remove(Family.ARITHMETIC)  # elements are compared, not computed with
    assert families >= wanted
    for fault in found:
        edited = fault.apply(files)
        if fault.plan is None:
            assert edited != files
            parse(fault.span.file, edited[fault.span.file])
        else:
            assert edited == files
            assert fault.plan != substrate.plan
