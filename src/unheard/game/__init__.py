"""The game between an aggregator and the worst participation: regret, worst case, minimax."""
