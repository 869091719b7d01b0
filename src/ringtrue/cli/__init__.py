"""The command line: a thin skin over the library, one file per group of commands."""
