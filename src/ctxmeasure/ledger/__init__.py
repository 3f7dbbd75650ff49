"""What outlives a process: events in a file, state per session, and the key of the digests.

The only room that writes. Each module is imported when it is needed; `detached` is all that a
command needs before its agent has an answer.
"""
