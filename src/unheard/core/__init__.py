"""The mathematics: counts and an assumption in, an honest rating out (NumPy and SciPy only)."""
