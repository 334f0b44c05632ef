"""The MITI-ST contract: rows, invariants, views, weights, pairing. Pure functions; `features` alone needs datasets."""
