"""Common ground of the rooms above: what a word means wherever a user may type it."""
