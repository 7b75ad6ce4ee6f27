"""Everything a role may and may not see: messages, endpoints, channels, drivers, transcripts."""
