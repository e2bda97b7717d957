"""Textual CSS and palettes."""
