"""Runs a command in a pseudo-terminal, does to it what a user would, and prints what the terminal got.

    load_in_terminal.py ACTION COMMAND...

ACTION is `watch`, `resize` (makes the window larger while it runs), `interrupt` (Ctrl-C once) or `twice`. Prints one line
of JSON: the exit code, what was written, and the sizes that the screen was drawn in.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time


def set_size(descriptor, rows, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def press(terminal):
    """Presses Ctrl-C, and returns when."""
    try:
        os.write(terminal, b"\x03")
    except OSError:
        pass  # the process has ended
    return time.monotonic()


def main():
    action, command = sys.argv[1], sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        # The window has its size before the command looks.
        set_size(0, 24, 80)
        os.execv(command[0], command)
    written = b""
    drawn = 0
    done = False
    end = time.monotonic() + 90
    pressed = end
    while time.monotonic() < end:
        # Signals that come while the process does not run count as one: a user presses again.
        if action == "twice" and time.monotonic() > pressed + 0.3:
            pressed = press(terminal)
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        written += piece
        # What was drawn several times is at work. The lines of a screen end with \r as well, already those of its first.
        screens = written.count(b"\x1b[H")
        drawn = screens if screens else written.count(b"\r")
        if not done and drawn >= 3 and b"p99" in written:
            done = True
            if action == "resize":
                set_size(terminal, 40, 120)
            if action in ("interrupt", "twice"):
                pressed = press(terminal)
    _, status = os.waitpid(child, 0)
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    print(json.dumps({"code": code, "text": written.decode("utf-8", "replace")}))


main()
