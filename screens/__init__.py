"""What the operator sees: screens, dialogs and palette commands."""
