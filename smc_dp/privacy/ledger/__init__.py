"""Each party's own book of what it has released, and the limit that it keeps."""
