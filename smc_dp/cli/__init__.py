"""The command line: each file reads the options of some commands and returns the job to be done."""
