"""Files: reading what strangers wrote with suspicion, and writing so that a power cut leaves all or nothing."""
