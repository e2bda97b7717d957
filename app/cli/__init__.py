"""The command line: one module per noun, loaded when it is called."""
