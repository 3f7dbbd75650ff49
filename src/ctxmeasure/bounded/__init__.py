"""The only room that opens files; it knows no agent.

Every read has a byte bound that is stated (`ReadBudget`), counted (`ReadStats`) and tested. What
goes wrong with a file is a named `ReadFault`, never an exception. Imports nothing of ours.
"""
