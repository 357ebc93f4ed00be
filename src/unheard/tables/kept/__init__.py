"""Counts that are kept in a file or a table, to which batches of rows are added exactly once."""
