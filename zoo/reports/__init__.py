"""Result files to tables, significance and pictures."""
