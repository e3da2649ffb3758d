"""Drives the console's page of a server with many connections in Chromium: console_many.py ADDRESS TOKEN PICTURES PORT COUNT.

It opens COUNT connections to the server at PORT itself, which send what a client of HTTP/2 begins with.
"""

import resource
import socket

from console_driver import *

port, count = int(sys.argv[4]), int(sys.argv[5])
# What is shown at a time, with some lines around it.
SCREEN = 80
# Of an answer, in bytes: it is for a screen of lines, however many there are.
LARGEST = 16 * 1024
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

# Draws the same answer again and again, with the layout of each, and returns the median in milliseconds.
DRAW = """request('connections?from=0&count=48').then((data) => {
  const times = [];
  for (let turn = 0; turn < 41; turn += 1) {
    const start = performance.now();
    current.draw(data);
    current.grid.element.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.sort((one, other) => one - other)[20].toFixed(2);
})"""
ANSWERS = "performance.getEntriesByType('resource').filter((each) => each.name.includes('/connections?')).map((each) => each.encodedBodySize)"
# Scrolls through all lines in 60 steps, and returns the most lines that existed.
SCROLL = """(async () => {
  const grid = document.querySelector('[role=treegrid]');
  let most = 0;
  for (let step = 0; step <= 60; step += 1) {
    grid.scrollTop = grid.scrollHeight * step / 60;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    most = Math.max(most, document.querySelectorAll('main *').length);
  }
  return most;
})()"""


def connected():
    peer = socket.create_connection(("127.0.0.1", port))
    peer.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    return peer


try:
    peers = [connected() for _ in range(count)]
    page = Page(browser, f"{address}/connections#token={token}")
    window(page, 1440, "light")
    # The server and its listener are lines, too, and the head.
    rows = count + 3
    expect(page, f"{STATUS} === 'live'", "the link opens the page")
    expect(page, f"document.querySelector('[role=treegrid]').getAttribute('aria-rowcount') === '{rows}'", "all connections can be reached")
    expect(page, f"document.querySelectorAll('.line').length < {SCREEN}", "few lines are drawn")
    page.run("document.querySelector('[role=treegrid]').focus()")
    press(page, "End")
    expect(page, f"document.querySelector('.line.active')?.getAttribute('aria-rowindex') === '{rows}'", "the last line, by a key")
    expect(page, f"document.querySelectorAll('.line').length < {SCREEN}", "few lines are drawn there, too")
    press(page, "Home")
    expect(page, "document.querySelector('.line.active')?.getAttribute('aria-rowindex') === '2'", "the first line, by a key")
    elements = page.run(SCROLL)
    say(f"{'ok' if elements < SCREEN * 10 else 'wrong:'} {elements} elements at most, while it scrolls through all")
    press(page, "/", "/")
    write(page, str(peers[-1].getsockname()[1]))
    expect(page, "document.querySelectorAll('.line').length >= 2 && document.querySelectorAll('.line').length < 6", "one of them is found")
    largest = max(page.run(ANSWERS))
    say(f"{'ok' if 0 < largest < LARGEST else 'wrong:'} {largest} bytes at most in an answer")
    say(f"ok took {page.run(DRAW)} ms to draw a screen of {count} connections")
    say("done")
finally:
    browser.close()
