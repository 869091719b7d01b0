"""What generators look things up in: word lists that ship with ringtrue, and lexicons and vectors that do not."""
