"""What makes runs happen: tmux, hosts, wrapper, spool and supervision."""
