"""The terminal while the live view is on it: what it can show, and that it is given back as it was, whatever happens."""

import os
import signal
import sys

from view import Style

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"  # the alternate screen, no cursor
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
WIDE_LANGUAGES = ("ja", "ko", "zh")  # their terminals may draw block characters two columns wide


def can_be_live(environment, terminal):
    return terminal and environment.get("TERM", "dumb") not in ("", "dumb")


def style_for(environment):
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environment.get(name))), "C")
    utf8 = locale.lower().replace("-", "").partition(".")[2].startswith("utf8")
    fits = not locale.startswith(WIDE_LANGUAGES) and environment.get("TERM") != "linux"  # its font lacks most of them
    return Style(colour=not environment.get("NO_COLOR"), unicode=utf8 and fits)


class Screen:
    def __init__(self, output=sys.stdout):
        self.output = output

    def __enter__(self):
        self.suspends = signal.signal(signal.SIGTSTP, self.suspend)
        self.write(ENTER)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGTSTP, self.suspends)
        try:
            self.write(LEAVE)
        except OSError:
            pass  # the terminal is gone

    def suspend(self, *_):
        """Ctrl-Z: the shell gets its screen back until it says fg."""
        self.write(LEAVE)
        mine = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stops here, if there is a shell to go on from
        signal.signal(signal.SIGTSTP, mine)
        self.write(ENTER)

    def size(self):
        """Of this moment; a terminal that does not know its own is taken for the usual one."""
        columns, rows = os.get_terminal_size(self.output.fileno())
        return columns or 80, rows or 24

    def draw(self, lines):
        """In one write, and without clearing first: nothing flickers."""
        self.write("\x1b[H" + "\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J")

    def write(self, text):
        self.output.write(text)
        self.output.flush()
