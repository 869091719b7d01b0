"""What is evaluated: collections, judgments and runs, and the files that they come from."""
