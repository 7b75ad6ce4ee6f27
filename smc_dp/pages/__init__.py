"""Pages for people: one file each, made of typed blocks by one template, for everybody to read, asking for nothing."""
