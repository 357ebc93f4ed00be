"""The paper [GKL25] reproduced and corrected: one file for each figure or table."""
