"""The server itself: workers, limits, protection."""
