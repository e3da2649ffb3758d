"""What the drivers of the console's page share: they are called with ADDRESS TOKEN [PICTURES], print a line for each step, and
`done` at the end.
"""

import base64
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import axe_core_python
import looks
from browser import Browser, Page

# What goes wrong here is a line for the test, as all else is.
sys.stderr = sys.stdout

address, token = sys.argv[1], sys.argv[2]
pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None
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
    page.until("!document.querySelector('main[aria-busy]')")


def open_first_line(page):
    page.run("document.querySelector('[role=grid]').focus()")
    press(page, "Home")
    press(page, "Enter", "\r")


def window(page, width, scheme):
    browser.ask("Emulation.setDeviceMetricsOverride", page.session, width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def look_at(page, view):
    """Each view in three widths, light and dark."""
    if page.run("typeof axe === 'undefined'"):
        page.run(AXE_CORE + ";0")
    for width in (390, 820, 1440):
        for scheme in ("light", "dark"):
            window(page, width, scheme)
            for line in page.run(looks.script()):
                say(f"wrong {view}, {width} wide, {scheme}: {line}")
            for line in page.run(NAMELESS):
                say(f"wrong {view}: {line}")
            # Its rules take their time: these two have each width that changes the layout, and each color.
            for line in page.run(AXE) if (width, scheme) in ((390, "light"), (1440, "dark")) else []:
                say(f"wrong {view}, {width} wide, {scheme}, by axe: {line}")
            if pictures:
                data = browser.ask("Page.captureScreenshot", page.session, format="png")["data"]
                (pictures / f"console-{view}-{width}-{scheme}.png").write_bytes(base64.b64decode(data))
    window(page, 1440, "light")
    say(f"ok {view} in three widths, light and dark")


# The rules of WCAG 2.1 and what is good practice besides, of which axe-core knows some ninety: roles and what they need, names,
# contrast, landmarks, the order of headings. Its script runs in the page without being a part of it.
AXE_CORE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
AXE = """axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations.map((found) =>
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
