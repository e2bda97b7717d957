"""How each agent CLI is given pam's hooks, and what its hooks say: one module a CLI, all with one interface."""
