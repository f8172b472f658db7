"""What every room shares: files, checks of arguments, worker processes."""
