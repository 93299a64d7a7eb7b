"""What a check detects, why it misses what it misses, and how far inputs may go.

`audit`, `compare`, `decompose`, `ceilings` and `survey` are here; further questions have modules
of their own: `blind_band`, `refereeability`, `dossier`, `diff`, `figure`.
"""

from suiteopt.audit.ceiling import Ceilings, ceilings
from suiteopt.audit.checks import Check, protocol_check, suite_check
from suiteopt.audit.comparison import Comparison, compare
from suiteopt.audit.decomposition import Decomposition, Factor, decompose
from suiteopt.audit.detection import Audit
from suiteopt.audit.reasons import Reason
from suiteopt.audit.score import audit, audit_check
from suiteopt.audit.survivors import Survey, survey

__all__ = [
    "Audit",
    "Ceilings",
    "Check",
    "Comparison",
    "Decomposition",
    "Factor",
    "Reason",
    "Survey",
    "audit",
    "audit_check",
    "ceilings",
    "compare",
    "decompose",
    "protocol_check",
    "suite_check",
    "survey",
]
