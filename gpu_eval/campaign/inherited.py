"""What every worker needs and none changes: loaded once, where workers are forked from.

To import this module is to load it, since that is all that a fork server does beforehand. No
definition of the built-in corpus takes a device or starts a thread (tests look at the server), so
that forking stays safe. Definitions of other corpora may do anything, and run in workers alone.
"""

import contextlib
import gc

from gpu_eval.problems.loader import load_corpus

# What is wrong with a definition is said by whoever wants it; a server must not end of it.
with contextlib.suppress(Exception):
    load_corpus()

# No collection in a worker looks at what it has inherited, or copies its pages.
gc.collect()
gc.freeze()
