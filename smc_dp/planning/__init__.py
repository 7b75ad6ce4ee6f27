"""Plan a run from public numbers alone: whom to leave out, which method to take, and what the session costs."""
