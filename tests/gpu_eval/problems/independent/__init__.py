"""Two problems written a second time from the benchmark's model files alone.

Sixth and seventh of the draw that `gpu_eval.problems.blind` states. Reference, kernel and launch
were finished before the corpus's own definitions of these problems were read.
"""
