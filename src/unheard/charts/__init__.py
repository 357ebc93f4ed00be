"""Pictures: plain records in, Altair charts out; no mathematics."""
