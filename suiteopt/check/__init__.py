"""Judging foreign kernels by a suite, beside their benchmark's own check."""
