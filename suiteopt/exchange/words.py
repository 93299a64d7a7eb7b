"""Words of the mutation-testing-elements schema."""

from enum import StrEnum

SCHEMA_VERSION = "2"


class MutantStatus(StrEnum):
    """What a tool says of a mutant."""

    KILLED = "Killed"
    SURVIVED = "Survived"
    NO_COVERAGE = "NoCoverage"
    COMPILE_ERROR = "CompileError"
    RUNTIME_ERROR = "RuntimeError"
    TIMEOUT = "Timeout"
    IGNORED = "Ignored"
    PENDING = "Pending"
