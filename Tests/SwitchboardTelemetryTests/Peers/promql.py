"""Asks a Prometheus of PrometheusTests until it answers what is expected.

    promql.py PORT EXPRESSION=VALUE...    prints "ok" for each, or what was answered last; a VALUE of "+" is any positive number,
                                          and "exemplars" asks for exemplars of the series
"""

import json
import sys
import time
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

PATIENCE = 120


def ask(port, path, **query):
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}?{urlencode(query)}") as answer:
            return json.load(answer)["data"]
    except (URLError, ConnectionError):
        return {}


def value(port, expression):
    result = (ask(port, "/api/v1/query", query=expression) or {}).get("result")
    return result[0]["value"][1] if result else "nothing"


def exemplars(port, series):
    now = time.time()
    return ask(port, "/api/v1/query_exemplars", query=series, start=now - 600, end=now + 600)


def troubles(port):
    """Why scrapes fail."""
    targets = (ask(port, "/api/v1/targets") or {}).get("activeTargets", [])
    return [target["lastError"] or target["health"] for target in targets] or "no answer"


def holds(port, expression, wanted):
    if wanted == "exemplars":
        found = exemplars(port, expression)
        return bool(found), found
    found = value(port, expression)
    if wanted == "+":
        return found not in ("nothing", "NaN") and float(found) > 0, found
    return found == wanted, found


def main(port, *questions):
    end = time.monotonic() + PATIENCE
    for question in questions:
        expression, _, wanted = question.rpartition("=")
        is_right, found = holds(port, expression, wanted)
        while not is_right and time.monotonic() < end:
            time.sleep(0.1)
            is_right, found = holds(port, expression, wanted)
        print("ok" if is_right else f"{expression}: {found} instead of {wanted}; {troubles(port)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
