"""Ctrl-C and SIGTERM: a flag that the run loop reads between blocks, and an immediate end while nothing is written yet.

Python runs a signal's handler only between its own instructions, and compiling kernels is one long native call.  So while
`critical` is False a thread watches the signals' wake-up pipe and ends the process by itself.
"""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Use as a context manager in the main thread.

    Fields:
        requested: whether a signal has come.
        critical: set by the caller once there is a file to close: from then on signals only set the flag; a second one
            ends the process at once, and the .partial file keeps what was flushed.
    """

    def __init__(self, leave: Callable[[], Any], answer: Callable[[], Any]):
        """`leave` is called before the process ends outside the critical part, `answer` when the flag is set; they print."""
        self.requested = False
        self.critical = False
        self._leave = leave
        self._answer = answer

    def __enter__(self) -> "Interrupt":
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        read, write = os.pipe()
        os.set_blocking(write, False)
        self._pipe = (read, write)
        self._wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="sapsim-interrupt", daemon=True).start()
        return self

    def __exit__(self, *error: Any) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._pipe[1])  # ends the watching thread

    def _handle(self, number: int, frame: Any) -> None:
        self.requested = True

    def _watch(self) -> None:
        count = 0
        while data := os.read(self._pipe[0], 1):
            if data[0] not in SIGNALS:
                continue
            count += 1
            if not self.critical or count > 1:
                try:
                    self._leave()
                finally:
                    os._exit(130)
            self._answer()
        os.close(self._pipe[0])
