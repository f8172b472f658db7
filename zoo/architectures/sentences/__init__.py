"""Models of single sentences: classifiers and taggers."""
