"""Shared by all rooms: files, checks of arguments, worker processes."""
