"""Builds every tmux command pam ever sends, for a control client's line or for a process's argv.

Nothing else in pam spells a tmux command. Here session names are checked (``pam-`` and 8 hex digits), targets are
exact (``=name``, ``=name:``, ``%id``), and text is quoted so that tmux neither parses nor expands it.

``words`` has what a command is, ``targets`` whom it is for. The others build them: ``serving`` for the server and its
hub, ``attaching`` for clients, ``sessions`` for what runs, ``looking`` and ``keying`` for what is read there and typed.
"""
