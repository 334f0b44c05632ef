"""MITI-ST preference rows: reading published rows, and the views that trainers read."""
