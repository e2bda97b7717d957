"""Programs that run beside the agent on its host; standard library only."""
