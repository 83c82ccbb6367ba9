"""A dataset that grows along its first axis, written in whole chunks that survive the death of the process.

HDF5 keeps the places of chunks in memory until a flush.  A chunk that has been flushed and is written again with another
compressed size moves, and its old place may be used again before the next flush: after a kill the file would then point at
foreign bytes.  So a chunk is compressed only when it is written once, full; an unfinished last chunk goes to the file
uncompressed, and every later write of it has the same size and stays in place.

Chunks are filtered here and handed to HDF5 as bytes: zlib lets other threads run while it compresses, HDF5 does not.
"""

import zlib
from typing import Any

import numpy as np

LEVEL = 1  # of gzip; higher levels cost more time than they save space on trajectories


def filtered(chunk: np.ndarray) -> bytes:
    """The bytes of a chunk after HDF5's filters shuffle and deflate."""
    raw = np.ascontiguousarray(chunk)
    size = raw.dtype.itemsize
    data = raw.reshape(-1).view(np.uint8)
    if size > 1:  # shuffle: all first bytes of the numbers, then all second bytes, ...
        data = np.ascontiguousarray(data.reshape(-1, size).T)
    return zlib.compress(data, LEVEL)


class Growing:
    """Appends rows to one dataset; the last, unfinished chunk waits in memory.

    The dataset's chunks span all axes but the first.
    """

    UNFILTERED = 0b11  # filter mask: skip shuffle and deflate for this chunk

    def __init__(self, dataset: Any, compress: bool):
        self.dataset = dataset
        self.compress = compress
        self.length = 0  # rows handed over
        self._n = dataset.chunks[0]
        self._extent = 0  # rows that the dataset in the file has room for
        self._shape = dataset.shape[1:]
        self._empty = 0 in self._shape  # an axis of length 0: the dataset has a length and no content
        self._tail = np.zeros(dataset.chunks, dataset.dtype)
        self._fill = 0  # rows in the tail
        self._saved = 0  # of these, in the file

    def append(self, rows: np.ndarray) -> None:
        """Adds rows (k, ...); writes the chunks that they complete."""
        rows = np.asarray(rows, self.dataset.dtype)
        if rows.shape[1:] != self._shape:
            raise ValueError(f"{self.dataset.name}: rows of shape {rows.shape[1:]}, expected {self._shape}")
        if self._empty:
            self.length += len(rows)
            return
        done = 0
        self._extend(self.length + len(rows))
        while done < len(rows):
            take = min(self._n - self._fill, len(rows) - done)
            self._tail[self._fill : self._fill + take] = rows[done : done + take]
            self._fill += take
            self.length += take
            done += take
            if self._fill == self._n:
                self._write(self.compress and self._saved == 0)
                self._tail[...] = 0
                self._fill = self._saved = 0

    @property
    def chunk_bytes(self) -> int:
        """Size of a chunk without compression."""
        return self._tail.nbytes

    def cut(self, length: int) -> None:
        """Forgets the rows from `length` on; nothing may be appended afterwards."""
        self._fill = max(0, self._fill - max(0, self.length - length))
        self._saved = min(self._saved, self._fill)
        self.length = min(self.length, length)

    def save(self, last: bool = False) -> None:
        """Brings the file up to date with all rows so far; `last`: nothing will follow, so the tail may be compressed."""
        if self._fill > self._saved:
            self._write(self.compress and last and self._saved == 0)
            self._saved = self._fill
        # last: after `cut` this shortens the dataset, and HDF5 then reads the chunk at the end, which a failed write has left
        # without content
        self._extend(self.length)

    def _extend(self, rows: int) -> None:
        if rows != self._extent:
            self.dataset.id.set_extent((rows, *self._shape))
            self._extent = rows

    def _write(self, compress: bool) -> None:
        first = self.length - self._fill
        offset = (first, *[0] * len(self._shape))
        if compress:
            self.dataset.id.write_direct_chunk(offset, filtered(self._tail))
        else:
            self.dataset.id.write_direct_chunk(offset, self._tail.tobytes(), self.UNFILTERED if self.compress else 0)
