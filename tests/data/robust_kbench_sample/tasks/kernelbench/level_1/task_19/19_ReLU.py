"""The published definition."""
