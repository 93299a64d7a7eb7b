import os

# Threads that wait by spinning, as OpenMP's do by default, take the processor from the tests that
# run beside them. It is read when torch is imported, here and in processes that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
