"""Everything that speaks tmux; no other package starts it."""
