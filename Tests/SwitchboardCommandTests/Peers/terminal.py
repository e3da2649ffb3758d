"""Runs a program in a pseudo-terminal of 60 columns and 12 rows, as a user at a terminal would.

    terminal.py [--type TEXT] [--interrupt-after TEXT]... PROGRAM ARGUMENT...

Types TEXT at once; sends Ctrl-C each time that a further TEXT has been shown. Prints what the program wrote, between lines
that begin with "== ", and its exit code.
"""

import argparse
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="")
    parser.add_argument("--interrupt-after", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ["TERM"] = "xterm-256color"
        os.execv(arguments.command[0], arguments.command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
    os.write(terminal, arguments.type.encode().decode("unicode_escape").encode())
    output, waiting, seen = b"", list(arguments.interrupt_after), 0
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
        while waiting and (at := output.find(waiting[0].encode(), seen)) >= 0:
            seen = at + len(waiting.pop(0))
            os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    print("== output")
    sys.stdout.flush()
    sys.stdout.buffer.write(output.replace(b"\r\n", b"\n"))
    print(f"\n== code {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
