"""What the definitions of a family of problems share."""
