"""From numbers to decisions: what overturns a claim, who is best, which assumption is right."""
