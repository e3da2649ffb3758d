"""Drives the console's page in Chromium: console_page.py ADDRESS TOKEN [PICTURES].

ADDRESS is http://HOST:PORT, without a slash behind. The server has the methods and the hostile names that ConsolePageTests
gives it. Prints what it has seen, a line for each step, and `done` at the end. At `call`, the test makes some calls; at `stop` and `start`, the test stops the
console, and starts another one at the same address.
"""

import base64
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import axe_core_python
import looks
from browser import Browser, Page

address, token = sys.argv[1], sys.argv[2]
pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
browser = Browser("/usr/bin/chromium")
STATUS = "document.getElementById('status').textContent"


def say(line):
    print(line, flush=True)


def expect(page, condition, what):
    page.until(condition)
    say(f"ok {what}")


def press(page, key, text=None):
    down = {"type": "keyDown", "key": key}
    if text:
        down["text"] = text
    browser.ask("Input.dispatchKeyEvent", page.session, **down)
    browser.ask("Input.dispatchKeyEvent", page.session, type="keyUp", key=key)


def write(page, text):
    for letter in text:
        press(page, letter, letter)


def choose(page, label, value):
    page.run(f"""(() => {{
      const field = [...document.querySelectorAll('main label')].find((each) => each.textContent.startsWith('{label}')).querySelector('select');
      field.value = '{value}';
      field.dispatchEvent(new Event('change'));
    }})()""")


def open_first_line(page):
    page.run("document.querySelector('[role=grid] .body').focus()")
    press(page, "Home")
    press(page, "Enter", "\r")


def window(page, width, scheme):
    browser.ask("Emulation.setDeviceMetricsOverride", page.session, width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def look_at(page, view):
    """Each view in three widths, light and dark."""
    for width in (390, 820, 1440):
        for scheme in ("light", "dark"):
            window(page, width, scheme)
            for line in page.run(looks.script()):
                say(f"wrong {view}, {width} wide, {scheme}: {line}")
            for line in page.run(NAMELESS):
                say(f"wrong {view}: {line}")
            for line in page.run(AXE):
                say(f"wrong {view}, {width} wide, {scheme}, by axe: {line}")
            if pictures:
                data = browser.ask("Page.captureScreenshot", page.session, format="png")["data"]
                (pictures / f"console-{view}-{width}-{scheme}.png").write_bytes(base64.b64decode(data))
    window(page, 1440, "light")
    say(f"ok {view} in three widths, light and dark")


# The rules of WCAG 2.1 and what is good practice besides, of which axe-core knows some ninety: roles and what they need, names,
# contrast, landmarks, the order of headings. Its script runs in the page without being a part of it.
AXE_CORE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# The focus of a list is on the part that scrolls, a row group, which may not name its active line by one of the rules.
AXE = """axe.run(document, {resultTypes: ['violations'], rules: {'aria-allowed-attr': {enabled: false}}}).then((result) => result.violations.map((found) =>
  `${found.id}: ${found.help}: ${found.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')}`))"""

# What a reader of the screen could not name, and roles that lack what they need.
NAMELESS = """(() => {
  const found = [], shown = (each) => each.offsetParent;
  const name = (each) => each.getAttribute('aria-label') || each.labels?.[0]?.textContent || each.textContent.trim();
  for (const each of document.querySelectorAll('a, button, input, select, meter, [role=img], [role=grid], [role=treegrid]'))
    if (shown(each) && !name(each)) found.push('it has no name: ' + each.outerHTML.slice(0, 80));
  for (const row of document.querySelectorAll('[role=row]'))
    if (!row.closest('[role=grid], [role=treegrid]')) found.push('a row outside of a grid');
  for (const row of document.querySelectorAll('[role=treegrid] .line'))
    if (!row.hasAttribute('aria-level')) found.push('a line of the tree without a level');
  if (!document.documentElement.lang) found.push('it has no language');
  return found;
})()"""

try:
    # The link, as the log has it.
    page = Page(browser, f"{address}/#token={token}")
    browser.ask("Log.enable", page.session)
    browser.ask("Runtime.enable", page.session)
    page.run(AXE_CORE + ";0")
    window(page, 1440, "light")
    expect(page, f"{STATUS} === 'live'", "the link opens the page")
    expect(page, "location.hash === ''", "the token is not in the address")
    expect(page, "document.querySelector('.tiles dd') && document.querySelectorAll('svg[role=img]').length === 3", "figures and curves")
    expect(page, "[...document.querySelectorAll('.line')].some((line) => line.textContent.includes('echo.Echo/Get'))", "the busiest method")

    # 500 methods, of which few are drawn.
    expect(page, "Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) > 500", "all methods can be reached")
    expect(page, "document.querySelectorAll('.line').length < 80", "few lines are drawn")
    page.run("document.querySelector('[role=grid] .body').focus()")
    press(page, "End")
    expect(page, "document.querySelector('.line.active') && Number(document.querySelector('.line.active').getAttribute('aria-rowindex')) > 500", "the last line, by a key")
    press(page, "Home")
    expect(page, "document.querySelector('.line.active')?.getAttribute('aria-rowindex') === '2'", "the first line, by a key")
    look_at(page, "now")

    # By keys alone: find a method, and open it.
    press(page, "/", "/")
    write(page, "GET")
    expect(page, "document.querySelectorAll('.line').length === 1 && document.querySelector('.line').textContent.includes('echo.Echo/Get')", "a method is found")
    page.run("document.querySelector('[role=grid] .body').focus()")
    press(page, "Enter", "\r")
    expect(page, "document.querySelector('.panel h2')?.textContent === 'echo.Echo/Get' && document.querySelectorAll('.panel svg').length === 3", "its figures")
    look_at(page, "method")

    # Single calls, of which those that begin now have a timeline.
    press(page, "a", "a")
    expect(page, "location.pathname === '/calls' && document.querySelector('.line')?.textContent.includes('/')", "calls, by a key")
    look_at(page, "calls")
    say("call")
    choose(page, "Show", "timed")
    expect(page, "document.querySelectorAll('.line').length >= 4", "calls with a timeline")
    open_first_line(page)
    expect(page, "[...document.querySelectorAll('.timeline th')].some((each) => each.textContent === 'Handler') && document.querySelectorAll('.timeline .bar').length >= 4", "a timeline")
    expect(page, "[...document.querySelectorAll('.timeline th')].some((each) => each.textContent.includes('Interceptor CheckingStock'))", "an interceptor in it")
    look_at(page, "timeline")
    choose(page, "Show", "failed")
    page.run("document.querySelector('main [data-search]').focus()")
    write(page, "aborted")
    expect(page, "document.querySelectorAll('.line').length >= 1 && [...document.querySelectorAll('.line')].every((each) => each.textContent.includes('ABORTED'))", "those that failed")
    open_first_line(page)
    expect(page, "document.querySelector('.panel .message')?.textContent.startsWith('<img src=x onerror=')", "the message of a status, as text")
    expect(page, "[...document.querySelectorAll('.panel td')].some((each) => each.textContent.startsWith('<img src=x')) && window.hacked === undefined && !document.querySelector('main img')", "hostile metadata is text")
    expect(page, "!document.body.textContent.includes('secret') && [...document.querySelectorAll('.panel td')].some((each) => each.textContent === '13 bytes, not shown')", "a secret is a length")
    expect(page, "/^https:\\/\\/traces.example\\/trace\\/[0-9a-f]{32}\\?span=[0-9a-f]{16}$/.test(document.querySelector('.panel a')?.href) && document.querySelector('.panel a').rel === 'noopener noreferrer'", "a link to the trace")
    look_at(page, "failed-call")
    choose(page, "Calls of", "client")
    expect(page, "document.querySelectorAll('.line').length >= 1 && [...document.querySelectorAll('.line')].every((each) => each.textContent.includes('→'))", "those of channels")
    open_first_line(page)
    expect(page, "[...document.querySelectorAll('.timeline th')].some((each) => each.textContent === 'Attempt 1') && document.querySelector('.panel h3').textContent === 'Attempts'", "the attempts of a channel's call")
    look_at(page, "attempts")
    choose(page, "Show", "under_way")
    page.run("(() => { const field = document.querySelector('main [data-search]'); field.value = ''; field.dispatchEvent(new Event('input')); })()")
    choose(page, "Calls of", "server")
    expect(page, "document.querySelector('.line')?.textContent.includes('waits for the handler')", "a call in progress")
    open_first_line(page)
    expect(page, "document.querySelector('.panel dd')?.textContent === 'waits for the handler'", "what it waits for")
    look_at(page, "in-progress")
    press(page, "c", "c")
    expect(page, "location.pathname === '/connections' && document.querySelector('[role=treegrid] .line')", "connections, by a key")
    expect(page, "document.querySelector('.line').textContent.includes('<img src=x onerror=') && window.hacked === undefined && !document.querySelector('main img')", "hostile names are text")
    page.run("document.querySelector('[role=treegrid] .body').focus()")
    press(page, "ArrowDown")
    press(page, "ArrowDown")
    press(page, "Enter", "\r")
    expect(page, "[...document.querySelectorAll('.panel th')].some((name) => name.textContent === 'Streams')", "a connection")
    press(page, "Home")
    press(page, "ArrowLeft")
    expect(page, "document.querySelector('.line').getAttribute('aria-expanded') === 'false'", "a server is folded")
    press(page, "ArrowRight")
    expect(page, "document.querySelector('.line').getAttribute('aria-expanded') === 'true'", "a server is unfolded")
    look_at(page, "connections")
    page.run("history.back()")
    expect(page, "location.pathname === '/' || location.pathname === '/now'", "back")

    # Options, certificates and service configs.
    press(page, "o", "o")
    expect(page, "location.pathname === '/configuration' && [...document.querySelectorAll('.options th')].some((name) => name.textContent === 'OpenSSL')", "configuration, by a key")
    expect(page, "[...document.querySelectorAll('.line')].some((line) => line.textContent.includes('expired')) && !document.querySelector('main img')", "an expired certificate")
    page.run("document.querySelector('[role=grid] .body').focus()")
    for _ in range(3):
        press(page, "ArrowDown")
    press(page, "Enter", "\r")
    expect(page, "document.querySelector('.panel h2').textContent === 'back office' && document.querySelector('.options .changed th')?.textContent === 'maxRequestSize'", "options of a server")
    expect(page, "[...document.querySelectorAll('.panel h3')].some((title) => title.textContent === 'TLS')", "its certificate")
    page.run("document.querySelector('.panel input[type=checkbox]').focus()")
    press(page, " ", " ")
    expect(page, "[...document.querySelectorAll('.options tbody tr')].every((line) => line.className === 'changed')", "only what is not the default")
    look_at(page, "configuration")

    # Levers: a log level, sampling and a profile.
    press(page, "Escape")
    press(page, "l", "l")
    expect(page, "location.pathname === '/levers' && document.querySelectorAll('.panel').length === 3 && document.querySelector('.line')", "levers, by a key")
    page.run("document.querySelector('[role=grid] .body').focus()")
    press(page, "Enter", "\r")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Set for the selected line').click()")
    expect(page, "document.querySelector('.line').textContent.includes('debug') && document.querySelector('.tools [role=status]').textContent === '1 log has the level debug.'", "a log level")
    page.run("document.querySelector('input[list=methods]').focus()")
    write(page, "echo.Echo/Get")
    press(page, "Enter", "\r")
    expect(page, "[...document.querySelectorAll('main td')].some((each) => each.textContent === '10 min')", "sampling for a while")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent.startsWith('Take a profile')).click()")
    expect(page, "[...document.querySelectorAll('[role=status]')].some((each) => each.textContent.startsWith('Looking:'))", "a profile begins")
    say("profile")
    expect(page, "document.querySelectorAll('.flame .depth-1').length > 1", "a profile is drawn")
    page.run("document.querySelector('.flame .frame').focus()")
    press(page, "ArrowDown")
    expect(page, "document.activeElement.classList.contains('depth-1') && document.querySelector('.flame-info').textContent.includes('% of the time of loop 1')", "keys lead through the profile")
    press(page, "Enter", "\r")
    expect(page, "document.querySelectorAll('.flame .depth-0').length === 1 && document.activeElement.style.width === '100%'", "a part of the profile is enlarged")
    press(page, "Escape")
    expect(page, "document.querySelectorAll('.flame .depth-0').length > 1", "all of it is shown again")
    page.run("document.querySelector('details').open = true")
    look_at(page, "levers")

    # Who has no token, or another one, sees nothing.
    stranger = Page(browser, f"{address}/now", is_stranger=True)
    expect(stranger, "document.getElementById('access')?.open && !document.querySelector('.line')", "a stranger is asked for the token")
    write(stranger, "x" * 20)
    press(stranger, "Enter", "\r")
    expect(stranger, "document.getElementById('access').open && document.getElementById('access-reason').textContent.includes('is not, or no longer')", "a wrong token is refused")
    stranger.run("document.getElementById('access').close()")
    expect(stranger, "!document.getElementById('access').open && !document.getElementById('enter').hidden", "the dialog can be closed")
    stranger.run("document.getElementById('enter').click()")
    write(stranger, "\u20ac" * 20)
    press(stranger, "Enter", "\r")
    expect(stranger, "document.getElementById('access-reason').textContent.startsWith('A token has')", "what is no token is not sent")
    # A new link in the same tab, as after the restart of a server.
    stranger.run(f"location.hash = 'token={token}'")
    expect(stranger, f"{STATUS} === 'live' && document.querySelector('.line') && location.hash === ''", "the right link opens the page")

    # The console ends under it, and begins again.
    say("stop")
    expect(page, f"{STATUS}.includes('old: the server does not answer')", "it says that what it shows is old")
    say("start")
    expect(page, f"{STATUS} === 'live'", "it goes on by itself")

    # A server is drained, by keys alone, and only after it was asked for twice.
    press(page, "c", "c")
    expect(page, "location.pathname === '/connections' && document.querySelector('[role=treegrid] .line')", "connections again")
    page.run("document.querySelector('[role=treegrid] .body').focus()")
    press(page, "Home")
    press(page, "Enter", "\r")
    expect(page, "document.querySelector('.lever button')?.textContent === 'Drain'", "a lever")
    look_at(page, "drain")
    page.run("document.querySelector('.lever button').focus()")
    press(page, "Enter", "\r")
    expect(page, "document.activeElement.textContent === 'Cancel'", "it asks once more")
    page.run("document.querySelector('.lever .danger').focus()")
    press(page, "Enter", "\r")
    expect(page, "document.querySelector('.lever [role=status]').textContent.startsWith('It drains.') && document.querySelector('.line').textContent.includes('draining')", "the server drains")
    say("done")
finally:
    browser.close()
