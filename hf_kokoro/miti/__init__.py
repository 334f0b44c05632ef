"""The MITI-ST contract: rows and their invariants, views, weights, pairing. Pure functions; `features` alone needs datasets."""
