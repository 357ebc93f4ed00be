"""What is asked and answered: scales, histograms, assumptions, questions, results."""
