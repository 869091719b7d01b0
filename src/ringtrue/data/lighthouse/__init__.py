"""The built-in collection: passages on twelve subjects, topics, judgments, a training log with leaks, and runs.

All of it was written for ringtrue; `README.md` beside this file says how. A BEIR folder with further keys and files.
"""
