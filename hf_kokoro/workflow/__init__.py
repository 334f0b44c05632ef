"""The joins between the rooms below: whatever a verb does, one typed function does."""
