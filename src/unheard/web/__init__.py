"""The page and the REST interface: parse, call, show; no mathematics."""
