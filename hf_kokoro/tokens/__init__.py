"""Text to tokens, for training and evaluation alike: chat templates, windows, truncation between turns."""
