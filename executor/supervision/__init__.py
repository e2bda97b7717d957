"""Supervision: separate loops over the same verbs, one module each."""
