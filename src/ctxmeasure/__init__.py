"""How full is a coding agent's context window, and how do we know?"""
