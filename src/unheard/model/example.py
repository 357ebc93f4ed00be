"""The two hotels with which [GKL25, section 1] opens, for everything that needs an example."""

HOTELS = {"Hotel A": (40, 5, 15, 35, 105), "Hotel B": (5, 10, 35, 120, 30)}
"""Two hotels with one average: guests of A loved or hated it, guests of B rather liked it."""
