"""The three kinds of figure as SVG bodies; `report.figures` wraps them."""
