"""Code books into a first draft of bounds: what a study's own description of its columns says, and never a row."""
