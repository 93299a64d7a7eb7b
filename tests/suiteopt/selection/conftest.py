# Ahead of PuLP, which tests import, too: see `suiteopt.selection.pulp_model`.
import ortools.math_opt.python.mathopt  # noqa: F401
from hypothesis import settings

# A shared machine can stall any single example; none of these tests is about time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
