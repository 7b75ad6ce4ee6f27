"""Role code on every input and with every coin, at a size at which that can be done: laws of views, exactly."""
