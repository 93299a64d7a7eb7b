"""Files that exports carry, and scripts that run beside a benchmark."""
