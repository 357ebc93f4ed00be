"""Speed as ratios, each against its peer in the same run; coverage by simulation."""
