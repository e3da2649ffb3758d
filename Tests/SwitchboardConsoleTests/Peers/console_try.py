"""Drives the console's view Try in Chromium: console_try.py ADDRESS TOKEN PICTURES CLOSED.

The console has the server `kinds` within its process, the channel `peer` to the same service by grpcio, and the permission to
call. CLOSED is the address of another one without that permission. Without pictures, PICTURES is empty.
"""

import json
import subprocess

from console_driver import *

FIND = """const find = (label) => [...document.querySelectorAll('.request [aria-label]')]
  .find((each) => each.getAttribute('aria-label') === label && each.offsetParent);"""
OUTCOME = "document.querySelector('.outcome').textContent"
JSON = "document.querySelector('[aria-label=\"Request in JSON\"]').value"
RESPONSES = "[...document.querySelectorAll('.events .response pre')].map((each) => each.textContent)"


def js(text):
    return json.dumps(text)


def fill(page, label, value):
    page.until(f"(() => {{ {FIND} return Boolean(find({js(label)})); }})()")
    page.run(f"""(() => {{ {FIND}
      const field = find({js(label)});
      field.value = {js(value)};
      field.dispatchEvent(new Event('input', {{ bubbles: true }}));
      field.dispatchEvent(new Event('change', {{ bubbles: true }}));
    }})()""")


def click(page, label):
    page.until(f"(() => {{ {FIND} return Boolean(find({js(label)})); }})()")
    page.run(f"(() => {{ {FIND} find({js(label)}).click(); }})()")


def button(page, text):
    there = f"[...document.querySelectorAll('.request button')].find((each) => each.textContent === {js(text)} && !each.disabled && each.offsetParent)"
    page.until(f"Boolean({there})")
    page.run(f"{there}.click()")


def choose(page, method):
    """Opens a method by keys alone."""
    page.run("document.activeElement.blur()")
    press(page, "/", "/")
    page.run("document.activeElement.select()")
    write(page, method)
    page.until(f"document.querySelectorAll('.line').length === 1 && document.querySelector('.line').textContent.includes({js(method)})")
    page.run("document.querySelector('[role=grid]').focus()")
    press(page, "Enter", "\r")
    page.until(f"document.querySelector('.panel h2')?.textContent.endsWith({js(method)}) && document.querySelector('.request')")


def copied(page, way):
    """The words that a shell makes of a copy."""
    page.run(f"document.querySelector('[data-copy={way}]').click()")
    page.until("document.querySelector('.copied textarea, .copied p')")
    text = page.run("document.querySelector('.copied textarea')?.value ?? ''")
    names = {"command": "switchboard", "curl": "curl"}
    shell = f"""{names[way]}() {{ for word; do printf '%s\\0' "$word"; done; }}\n{text}"""
    result = subprocess.run(["sh", "-c", shell], capture_output=True, check=True).stdout
    return result.decode().split("\0")[:-1]


# One value of every kind of field: what is typed, and what the JSON of the answer has.
KINDS = [
    ("oneInt32", "-7", -7), ("oneInt64", "9007199254740993", "9007199254740993"),
    ("oneUint64", "18446744073709551615", "18446744073709551615"), ("oneDouble", "0.1", 0.1), ("oneFloat", "NaN", "NaN"),
    ("oneBool", "true", True), ("oneString", "<img src=x onerror=window.hacked=1>\n'\"\\$`", None), ("oneBytes", "AQI=", "AQI="),
    ("oneColor", "BLUE", "BLUE"),
]


def all_kinds(page):
    choose(page, "Kinds/EchoThree")
    for label, value, _ in KINDS:
        fill(page, label, value)
    click(page, "add oneNested")
    fill(page, "a", "5")
    # Lists and maps.
    click(page, "add to manyInt64")
    click(page, "add to manyInt64")
    fill(page, "manyInt64 1", "1")
    fill(page, "manyInt64 2", "-9223372036854775808")
    click(page, "add to manyColor")
    fill(page, "manyColor 1", "GREEN")
    click(page, "add to mapStringString")
    fill(page, "key of mapStringString", "k")
    fill(page, "value of mapStringString", "v")
    # At most one of a oneof.
    fill(page, "which of choice", "0")
    fill(page, "choiceUint32", "3")
    fill(page, "which of choice", "2")
    fill(page, "choiceString", "chosen")
    well_known = page.run("""[...document.querySelectorAll('.form > .field')].map((row) => [row.querySelector('b').textContent,
      row.querySelector('.type').textContent])""")
    examples = {"Timestamp": "2026-01-31T12:00:00Z", "Duration": "1.500s", "FieldMask": "a,b", "Struct": '{"x": [1, "y", null]}',
                "Int64Value": "0", "StringValue": "", "BoolValue": "false"}
    typed = {}
    for name, kind in well_known:
        if kind in examples and kind not in typed.values():
            typed[name] = kind
            fill(page, name if kind != "Struct" else f"{name}, in JSON", examples[kind])
    # A message inside another, of the type itself.
    click(page, "add recursive")
    page.until("document.querySelectorAll('.form .form .field').length > 20")
    request = json.loads(page.run(JSON))
    button(page, "Call")
    page.until(f"{OUTCOME}.startsWith('OK')")
    answer = json.loads(page.run(RESPONSES)[0])
    wrong = []
    for label, value, expected in KINDS:
        if answer.get(label) != (value if expected is None else expected):
            wrong.append(f"{label}: {answer.get(label)!r}")
    expected = {"manyInt64": ["1", "-9223372036854775808"], "manyColor": ["GREEN"], "mapStringString": {"k": "v"},
                "choiceString": "chosen", "oneNested": {"a": 5}, "recursive": {}}
    wrong += [f"{name}: {answer.get(name)!r}" for name, value in expected.items() if answer.get(name) != value]
    if "choiceUint32" in answer or "choiceUint32" in request:
        wrong.append("two of a oneof")
    for name in typed:
        if name not in answer:
            wrong.append(f"{name} is lost")
    say(f"wrong {wrong}" if wrong else f"ok a form with {len(KINDS) + len(expected) + len(typed)} kinds of fields")


def streams(page):
    choose(page, "Kinds/Repeat")
    fill(page, "text", "again")
    fill(page, "count", "3")
    button(page, "Call")
    expect(page, f"{OUTCOME}.startsWith('OK') && {RESPONSES}.length === 3", "a stream of responses")
    click(page, "clear count")
    button(page, "Call")
    page.until(f"{RESPONSES}.length >= 100")
    button(page, "Cancel")
    expect(page, f"{OUTCOME}.startsWith('CANCELLED')", "a stream without an end is cancelled")
    choose(page, "Kinds/Join")
    for text in ("a", "b"):
        fill(page, "text", text)
        button(page, "Send the first request" if text == "a" else "Send another request")
        page.until(f"{OUTCOME}.includes('under way')")
    button(page, "End the requests")
    expect(page, f"{OUTCOME}.startsWith('OK') && {RESPONSES}[0].includes('a b')", "a stream of requests")
    choose(page, "Kinds/Talk")
    for number, text in enumerate(("a", "b"), 1):
        fill(page, "text", text)
        button(page, "Send the first request" if text == "a" else "Send another request")
        page.until(f"{RESPONSES}.length === {number} && {RESPONSES}[{number - 1}].includes('you said {text}')")
    button(page, "End the requests")
    expect(page, f"{OUTCOME}.startsWith('OK')", "streams both ways")


def single(page):
    choose(page, "Kinds/Say")
    fill(page, "text", "metadata")
    expect(page, f"JSON.parse({JSON}).text === 'metadata'", "the form writes JSON")
    button(page, "Add metadata")
    fill(page, "name of metadata", "tenant")
    fill(page, "value of metadata", "north")
    page.run("""document.querySelector('.request').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }))""")
    page.until(f"{OUTCOME}.startsWith('OK')")
    expect(page, "['served-by', 'tenant-was', 'north'].every((each) => document.querySelector('.events').textContent.includes(each))", "metadata and trailers, by Ctrl+Enter")


try:
    page = Page(browser, f"{address}/try#token={token}")
    window(page, 1440, "light")
    expect(page, f"{STATUS} === 'live' && document.querySelector('.line')", "the view opens")
    expect(page, "document.querySelector('.line').textContent.includes('Kinds/')", "the methods of the server")
    single(page)
    look_at(page, "try")

    # JSON and the form are the same value, and mistakes are said where they are.
    fill(page, "Request in JSON", '{"text": "from JSON", "next": {"count": 4}}')
    expect(page, f"(() => {{ {FIND} return find('text')?.value === 'from JSON' && Boolean(find('count')); }})()", "JSON fills the form")
    fill(page, "Request in JSON", '{"text": "x",\n  "count": }')
    expect(page, "document.getElementById('json-mistake').textContent.includes('line 2, column 12')", "a mistake is said at its place")
    fill(page, "Request in JSON", '{"txet": "x"}')
    button(page, "Call")
    expect(page, "document.getElementById('json-mistake').textContent.includes('no field \"txet\"') && document.getElementById('json-mistake').textContent.includes('line 1')", "the server's mistakes, too")
    fill(page, "Request in JSON", '{"text": "fail"}')
    button(page, "Call")
    expect(page, f"{OUTCOME}.startsWith('NOT_FOUND: no such word')", "a failure")
    fill(page, "Request in JSON", '{"text": "wait"}')
    page.run("""(() => { const field = [...document.querySelectorAll('.request label')].find((each) => each.textContent.startsWith('Deadline')).querySelector('input');
      field.value = '0.1'; })()""")
    button(page, "Call")
    expect(page, f"{OUTCOME}.startsWith('DEADLINE_EXCEEDED')", "a deadline")

    # What is copied is what a shell passes on, whatever is typed.
    hostile = "it's $HOME `id` \"x\" \\ !! \u202e; rm -rf /\n"
    fill(page, "Request in JSON", json.dumps({"text": hostile}))
    fill(page, "value of metadata", "it's $(id)")
    words = copied(page, "command")
    data = words[words.index("-d") + 1]
    header = words[words.index("-H") + 1]
    right = words[0] == "call" and words[2] == "switchboard.testing.Kinds/Say" and json.loads(data) == {"text": hostile} \
        and header == "tenant: it's $(id)" and "\u202e" not in data
    say("ok a line for the shell" if right else f"wrong line for the shell: {words}")
    words = copied(page, "curl")
    data = words[words.index("--data-raw") + 1]
    right = json.loads(data) == {"text": hostile} and words[0].startswith("http://127.0.0.1:") and words[0].endswith("/switchboard.testing.Kinds/Say")
    say("ok a line for curl" if right else f"wrong line for curl: {words}")
    page.run("document.querySelector('[data-copy=swift]').click()")
    expect(page, "document.querySelector('.copied textarea')?.value.includes('Switchboard_Testing_KindsClient(channel: channel).say(try Switchboard_Testing_Word(jsonString: ')", "a call in Swift")
    fill(page, "name of metadata", "Authorization")
    fill(page, "value of metadata", "Bearer secret")
    fill(page, "Request in JSON", '{"text": "kept"}')
    button(page, "Call")
    page.until("[...document.querySelectorAll('.past code')].some((each) => each.textContent.includes('kept'))")
    kept = page.run("JSON.stringify(sessionStorage) + JSON.stringify(localStorage)")
    say("wrong: a secret is kept" if "Bearer secret" in kept else "ok earlier requests without secrets")
    button(page, "Forget all earlier requests")
    expect(page, "!document.querySelector('.past')", "earlier requests are forgotten")

    streams(page)
    all_kinds(page)
    expect(page, "window.hacked === undefined && !document.querySelector('main img')", "hostile values are text")
    look_at(page, "form")

    # The same against grpcio, by its reflection.
    page.run("""(() => { const field = document.querySelector('.tools select'); field.value = [...field.options].find((each) => each.textContent.startsWith('peer')).value;
      field.dispatchEvent(new Event('change')); })()""")
    page.until("!document.querySelector('.request')")
    say("ok another target")
    single(page)
    streams(page)
    all_kinds(page)

    # Without the permission, there is no such view.
    closed = Page(browser, f"{sys.argv[4]}/try#token={token}", is_stranger=True)
    expect(closed, f"{STATUS}.includes('permissions lacks .call') && document.querySelector('nav [data-view=try]').hidden", "nothing without the permission")
    say("done")
finally:
    browser.close()
