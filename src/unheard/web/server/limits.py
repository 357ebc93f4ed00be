"""What one request, and all requests together, may use of the server."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one request, and all requests together, may use of the server.

    Attributes
    ----------
    head_bytes
        Size of a request without its body.
    bytes
        Size of an uploaded table.
    question_bytes
        Size of a question about counts.
    quick_bytes
        Size of a question that may be answered without a worker.
    rows, columns
        Of an uploaded table.
    items
        Rows of an answer.
    seconds
        Time that work on one request may take.
    patience
        Seconds that a client may keep the server waiting.
    rate
        Bytes per second that a client must send or read on average, once `patience` has passed.
    memory, question_memory
        Bytes that work on a table, and on a question about counts, may use.
    tables
        Tables that are processed at a time.
    waiting
        Requests that may wait for a worker.
    connections
        Clients that may be connected.
    temporary
        Bytes of uploads on disk, all together; the first MiB of each is left out.
    unread
        Bytes of answers that clients have not read yet, all together.
    """

    head_bytes: int = 64 * KIB
    bytes: int = 64 * MIB
    question_bytes: int = MIB
    quick_bytes: int = 4 * KIB
    rows: int = 5_000_000
    columns: int = 1_000
    items: int = 100_000
    seconds: float = 30.0
    patience: float = 15.0
    rate: float = 64.0 * KIB
    memory: int = 768 * MIB
    question_memory: int = 256 * MIB
    tables: int = 1
    waiting: int = 32
    connections: int = 256
    temporary: int = 512 * MIB
    unread: int = 128 * MIB

    def describe(self) -> dict[str, float]:
        """Return the limits that a client should know."""
        return {
            "bytes": self.bytes,
            "rows": self.rows,
            "columns": self.columns,
            "items": self.items,
            "seconds": self.seconds,
        }

    def time_for(self, size: float) -> float:
        """Return how many seconds a client may take to send or read so many bytes."""
        return self.patience + size / self.rate


def write_size(size: int) -> str:
    """Write a number of bytes."""
    return f"{size / MIB:,.0f} MiB" if size >= MIB else f"{size:,} bytes"
