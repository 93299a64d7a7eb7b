"""Private seeds: the same recipes under seeds that only the evaluator knows.

A public suite names its inputs, and a kernel can recognise an input; it cannot recognise a family.
Every member's seed is replaced by HMAC-SHA256 of (problem, input, published seed) under a secret
from an environment variable, so that the secret alone gives the same members again anywhere.
"""

import hashlib
import hmac
import os
from dataclasses import dataclass, replace

from suiteopt.errors import UserError
from suiteopt.suite import Member, ProblemSuite, Suite

SHORTEST = 16


@dataclass(frozen=True)
class PrivateSeeds:
    """Where private seeds come from.

    Attributes
    ----------
    variable : str
        The environment variable that held the secret.
    commitment : str
        SHA-256 of the secret under a label: tells two secrets apart without giving either away.
    """

    variable: str
    commitment: str


def reseed(suite: Suite, variable: str) -> tuple[Suite, PrivateSeeds]:
    """Return a suite with private seeds, and where they come from.

    Parameters
    ----------
    suite : Suite
    variable : str
        Name of the environment variable that holds the secret.

    Raises
    ------
    UserError
        If the variable is not set, or its secret is shorter than 16 characters.
    """
    secret = os.environ.get(variable, "")
    if len(secret) < SHORTEST:
        raise UserError(
            f"the environment variable {variable} holds {len(secret)} characters, and a secret "
            f"of at least {SHORTEST} is needed; set it to random text and keep it"
        )
    key = secret.encode()
    problems = tuple(
        replace(problem, members=tuple(_member(problem, member, key) for member in problem.members))
        for problem in suite.problems
    )
    commitment = hmac.new(key, b"suiteopt-commitment", hashlib.sha256).hexdigest()
    return replace(suite, problems=problems), PrivateSeeds(variable, commitment)


def _member(problem: ProblemSuite, member: Member, key: bytes) -> Member:
    message = f"{problem.problem}\n{member.input}\n{member.seed}".encode()
    digest = hmac.new(key, message, hashlib.sha256).digest()
    return replace(member, seed=int.from_bytes(digest[:8], "big") >> 1)
