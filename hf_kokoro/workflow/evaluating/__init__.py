"""`evaluate`: the papers' metrics and preference accuracy, one module a function."""
