"""Learning methods: local training, the function that is computed of all parts, and the model made of its value."""
