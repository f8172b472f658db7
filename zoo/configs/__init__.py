"""Named configurations, studies and published numbers, as data."""
