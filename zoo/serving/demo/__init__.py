"""The demo page of `corefmem demo`: stories, models that answer questions, and the page itself."""
