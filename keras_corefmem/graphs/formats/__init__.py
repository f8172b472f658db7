"""CoNLL, CoreNLP and spaCy Docs, in and out."""
