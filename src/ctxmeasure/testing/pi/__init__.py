"""Builders and writers of Pi's session files, events and answers."""
