"""A terminal without a screen: a program on a pseudo-terminal and the engine that knows what it has drawn.

Both live in a helper process, so that neither a flood nor a crash of the engine reaches the control room.
"""
