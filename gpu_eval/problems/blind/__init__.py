"""Blind controls: torch implementations written from a benchmark's contract alone.

The author of a module here read the benchmark's model file and our names of its tensors, and
none of the problem's own reference, controls or kernels. What a blind control says about false
alarms is therefore no echo of the tolerances: it never calibrates, and it is not tuned after its
errors have been seen. Mistakes against the contract are mended, and nothing else.

The problems were drawn, not picked: among the problems of level 1 that round and had no blind
control, in the order of SHA-256 of their ids, the first of each operation class. The first five
are here; the next two were rewritten whole (``tests/gpu_eval/problems/independent``).
"""
