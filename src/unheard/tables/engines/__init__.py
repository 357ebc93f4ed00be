"""One small file per engine, the only places where an engine is named."""
