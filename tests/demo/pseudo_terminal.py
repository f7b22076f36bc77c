"""A command on a terminal of its own, seen from outside: what it draws, and what it does when somebody types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

FRAME = re.compile(r"\x1b\[H(.*?)\x1b\[J", re.DOTALL)


class PseudoTerminal:
    def __init__(self, command, environment, columns=80, rows=24):
        self.output = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            os.killpg(self.pid, signal.SIGTERM)  # of the terminal's session
            self.wait()
        if self.master is not None:
            os.close(self.master)

    def hang_up(self):
        """The window is closed: SIGHUP for whoever is in it."""
        os.close(self.master)
        os.waitpid(self.pid, 0)
        self.pid = self.master = None

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read_until(self, condition, timeout, what):
        """Reads what comes until condition() is true; False when the terminal was closed before."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come within {timeout} s:\n{self.text()[-3000:]}")
            if select.select([self.master], [], [], 0.1)[0] and not self.read():
                return False
        return True

    def read(self):
        try:
            part = os.read(self.master, 1 << 16)
        except OSError:  # nobody has the other side open any more
            part = b""
        self.output += part
        return part

    def wait(self, timeout=90):
        """The exit code, once all was read."""
        self.read_until(lambda: False, timeout, "the end")
        status = os.waitpid(self.pid, 0)[1]
        self.pid = None
        return os.waitstatus_to_exitcode(status)

    def text(self):
        return self.output.decode(errors="replace")

    def frames(self):
        """Every whole picture so far, as lines."""
        return [[line.removesuffix("\x1b[K") for line in frame.split("\r\n")] for frame in FRAME.findall(self.text())]
