"""Session writers of one agent."""
