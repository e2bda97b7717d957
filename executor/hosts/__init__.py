"""Hosts as links: one interface to this machine and to machines behind ssh."""
