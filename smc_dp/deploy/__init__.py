"""Every site runs its own part on its own machine: what is agreed on, what is kept, how it travels."""
