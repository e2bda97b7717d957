"""Wiring: settings, the Textual App, the command line and the launcher."""
