"""Audits as pages, console text, JSON, LaTeX and files, whatever question they answer."""
