"""Files that appear whole or not at all, checks of positions, and processes."""
