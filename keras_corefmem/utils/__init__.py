"""Utilities shared by all packages: files, argument checks, worker processes."""
