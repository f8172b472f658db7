"""Studies, and how they run."""
