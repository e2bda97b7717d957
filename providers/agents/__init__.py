"""Agents of pam's own, each a program in one file that a host can run with its bare Python."""
