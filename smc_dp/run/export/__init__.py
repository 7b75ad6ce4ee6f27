"""Export of a released model: a file that classifies raw rows without this program."""
