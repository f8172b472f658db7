"""Pictures of measured results."""
