"""The file under HDF5: what is on disk stays readable, whenever the process dies or the disk fills up.

HDF5 writes through this object (h5py's driver for Python files).  Between flushes only data comes, to places that the
flushed file does not refer to.  A flush changes metadata in place, in many small writes; here they are collected, room for
them is made, and only then they go out, in one burst.

The file is kept longer than HDF5 knows, by a reserve.  When there is no room to keep it so, the write fails, and the reserve
is what a last flush can still use.
"""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

RESERVE = 1 << 17  # [bytes] for metadata: few of them lie beyond the last data, whose place is taken already
STEP = 1 << 20  # [bytes] by which the file is lengthened where there is room


class DurableFile(io.RawIOBase):
    """A file for h5py.

    Fields:
        reserve: bytes that are kept free beyond the end of what HDF5 has written.
        failure: the error that left no room for the reserve; from then on only writes that fit the file as it is succeed.
    """

    def __init__(self, path: str):
        super().__init__()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        self._at = 0
        self._size = 0  # as HDF5 knows it
        self._room = 0  # length on disk
        self._held: list[tuple[int, bytes]] | None = None
        self.reserve = RESERVE
        self.failure: OSError | None = None

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview) -> int:
        """Reads what was written, whether it is on disk or held."""
        view = memoryview(buffer).cast("B")
        n = min(len(view), max(0, self._size - self._at))
        found = os.pread(self._fd, n, self._at)
        view[:n] = found.ljust(n, b"\0")
        for offset, data in self._held or ():
            first, end = max(offset, self._at), min(offset + len(data), self._at + n)
            if first < end:
                view[first - self._at : end - self._at] = data[first - offset : end - offset]
        self._at += n
        return n

    def write(self, data: memoryview) -> int:
        data = bytes(data)
        end = self._at + len(data)
        if self._held is None:
            self._make_room(end)
            self._put(self._at, data)
        else:
            self._held.append((self._at, data))
        self._at = end
        self._size = max(self._size, end)
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        """Sets the length that HDF5 knows; on disk, `close` does."""
        self._size = self._at if size is None else size
        return self._size

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Collects the writes of what is done inside and lets them out together; raises OSError where there is no room.

        What lengthens the file goes first, then the superblock, which must know the new length before anything refers to
        what lies there, then the rest.
        """
        self._held = []
        end = self._size
        try:
            yield
            held, self._held = self._held, None
            failed_before = self.failure
            try:
                self._make_room(self._size)
            except OSError:
                if self._size > self._room:
                    raise
            for offset, data in sorted(held, key=lambda w: (w[0] < end, w[0])):
                self._put(offset, data)
            if self.failure is not failed_before:
                raise self.failure
        finally:
            self._held = None

    def _make_room(self, end: int) -> None:
        """Lengthens the file on disk so that the reserve follows `end`; where that failed before, `end` itself must fit."""
        if self.failure is not None:
            if end > self._room:
                raise self.failure
            return
        if end + self.reserve <= self._room:
            return
        for room in (end + self.reserve + STEP, end + self.reserve):
            try:
                _allocate(self._fd, self._room, room - self._room)
                self._room = room
                return
            except OSError as error:
                failure = error
        self.failure = failure
        raise failure

    def _put(self, offset: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            n = os.pwrite(self._fd, view, offset)
            offset, view = offset + n, view[n:]

    def close(self) -> None:
        """Cuts off the reserve and closes."""
        if not self.closed:
            os.ftruncate(self._fd, self._size)
            os.close(self._fd)
        super().close()


def _allocate(fd: int, offset: int, length: int) -> None:
    """Takes disk blocks for a part of a file that lies beyond its end."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, offset, length)
            return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
    piece = bytes(min(length, STEP))
    for start in range(offset, offset + length, len(piece)):
        os.pwrite(fd, piece[: offset + length - start], start)
