"""Command line: each file reads the options of some commands and calls the library."""
