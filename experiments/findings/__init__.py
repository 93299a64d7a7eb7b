"""One script a finding: the published figure, ours from the shipped matrix, and a word on both."""
