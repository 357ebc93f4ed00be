"""How much one request may ask of the server."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much one request may ask of the server.

    Attributes
    ----------
    bytes
        Size of an uploaded table.
    question_bytes
        Size of a question about counts.
    rows, columns
        Of an uploaded table.
    items
        Rows of an answer.
    seconds
        Time that work on one request may take.
    patience
        Seconds that a client may leave the server waiting for the next piece of a request.
    memory
        Bytes that work on one request may use.
    waiting
        Requests that may wait for a worker.
    """

    bytes: int = 64 * MIB
    question_bytes: int = MIB
    rows: int = 5_000_000
    columns: int = 1_000
    items: int = 100_000
    seconds: float = 30.0
    patience: float = 15.0
    memory: int = 2048 * MIB
    waiting: int = 32

    def told(self) -> dict[str, float]:
        """Return what a client should know before it asks."""
        return {
            "bytes": self.bytes,
            "rows": self.rows,
            "columns": self.columns,
            "items": self.items,
            "seconds": self.seconds,
        }


def size_text(size: int) -> str:
    """Write a number of bytes."""
    return f"{size / MIB:,.0f} MiB" if size >= MIB else f"{size:,} bytes"
