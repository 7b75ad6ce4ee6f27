"""Methods of our own that need a sum over the parties and nothing else of them."""
