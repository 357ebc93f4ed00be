"""The addresses of the REST interface, and what each of them does."""
