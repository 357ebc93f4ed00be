"""From estimates to decisions: sensitivity, comparison, order, calibration, planning."""
