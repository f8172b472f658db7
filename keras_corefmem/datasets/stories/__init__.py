"""bAbI, bAbI-Mix and a simulator of such stories."""
