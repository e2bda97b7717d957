"""What stands between the operator's terminal and an agent's: its frames, and keys, pastes and mouse in its words."""
