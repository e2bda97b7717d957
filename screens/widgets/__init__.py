"""Widgets that the screens are made of."""
