"""Builders and writers of the Agent Client Protocol's messages."""
