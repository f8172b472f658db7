"""Labelled and tagged sentences: SST, Universal Dependencies and the Penn Treebank."""
