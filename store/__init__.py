"""State: models, migrations, the state machines, the verbs and the journal."""
