"""The closed forms, written over columns: NumPy arrays or SQL expressions."""
