"""Sends the same requests to a server of ours, and to Envoy's gRPC-JSON transcoder in front of it.

    envoy_differential.py TARGET PROTOS SEED COUNT [--all]

Prints each answer that differs without being a difference that docs/guide/REST.md lists, then how many requests there were
of each listed difference, then "done".
"""

import http.client
import json
import random
import sys
import tempfile
from urllib.parse import quote

from envoy_transcoder import Transcoder, descriptors

TEXTS = ["x", "a b", "a/b", "ü", "a+b", "100%", "&=?", "%2F", "\"quoted\"", "back\\slash", "..", ".", "a:b", "Ω≈", "0"]
SAFE = ["x", "y1", "a-b", "a_b~", "a%20b", "a%2Fb", "%C3%BC", "a+b", "..", "a@b", "a,b;c=d", "100%25", "%zz", "%E2%89%88"]


class Requests:
    """Makes requests at random, for every rule of the service."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def text(self):
        return self.random.choice(TEXTS)

    def segment(self):
        return self.random.choice(SAFE)

    def number(self):
        return self.pick("0", "1", "-1", "2147483647", "2147483648", "9007199254740993", "x", "1.5", "1e3", "007", "")

    def timestamp(self):
        return self.pick("2026-01-02T03:04:05Z", "1969-12-31T23:59:59.5Z", "2026-01-02T03:04:05.123456789Z", "now")

    # MARK: messages

    def inner(self, depth=0):
        fields = {"text": self.text(), "number": self.pick("5", 5, "-9007199254740993"), "flag": self.pick(True, False)}
        if depth < 3:
            fields["deeper"] = self.inner(depth + 1)
        return {name: fields[name] for name in fields if self.random.random() < 0.5}

    def everything(self):
        fields = {
            "name": self.text(), "text": self.text(), "int32": self.pick(5, -5, "7", 1.0), "int64": self.pick("5", 5),
            "uint64": "18446744073709551615", "double": self.pick(1.5, "NaN", "Infinity", "2.5", -0.0, 1e300),
            "float": 0.25, "bool": self.pick(True, False), "bytes": self.pick("AAEC", "_-8=", ""),
            "color": self.pick("RED", "GREEN", 1, 2, "COLOR_UNSPECIFIED"), "inner": self.inner(),
            "numbers": [1, -2, "3"], "texts": [self.text(), ""], "colors": ["RED", 2], "inners": [self.inner(), {}],
            "labels": {"a": "b"}, "maybe": "", "time": self.timestamp(),
            "span": self.pick("1.5s", "-3s", "0.000000001s"), "mask": self.pick("name,inner.text", ""),
            "stringValue": "", "boolValue": False, "int64Value": "0", "value": self.pick(None, 1.5, "x", [1], {"a": None}),
            "struct": {"a": [1, {"b": None}]}, "sint32": -3, "fixed64": "8", "old_name": "x", "oldName": "y",
            "anotherName": "z", self.pick("word", "count"): self.pick(1, "1"),
            "any": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"},
        }
        chosen = {name: fields[name] for name in fields if self.random.random() < 0.15}
        if "old_name" in chosen:
            chosen.pop("oldName", None)
        if self.random.random() < 0.03:
            chosen["nothing"] = 1
        if self.random.random() < 0.03:
            chosen["int32"] = self.pick("x", 1.5, 3000000000, True)
        if chosen.get("word") == 1:
            chosen["word"] = "1"
        return chosen

    # MARK: queries

    def parameter(self):
        name = self.pick(
            "text", "int32", "int64", "uint32", "uint64", "double", "float", "bool", "bytes", "color", "inner.text",
            "inner.number", "inner.deeper.text", "inner.deeper.deeper.flag", "numbers", "texts", "colors", "word",
            "count", "maybe", "time", "span", "mask", "string_value", "stringValue", "bool_value", "int64Value",
            "uint32_value", "double_value", "bytes_value", "sint32", "fixed64", "anotherName", "renamed", "old_name",
            "oldName", "nothing", "inner", "inners.text", "labels.a")
        kind = name.split(".")[-1].lower().replace("_", "").removesuffix("value")
        if kind in ("int32", "int64", "uint32", "uint64", "number", "numbers", "count", "sint32", "fixed64"):
            value = self.number()
        elif kind in ("double", "float"):
            value = self.pick("1.5", "-0.25", "1e3", "NaN", "-Infinity", "x", "5")
        elif kind in ("bool", "flag"):
            value = self.pick("true", "false", "yes", "1", "True", "")
        elif kind == "bytes":
            value = self.pick("AAEC", "_-8=", "-_8", "A", "")
        elif kind in ("color", "colors"):
            value = self.pick("RED", "GREEN", "1", "2", "7", "BLUE", "red")
        elif kind == "time":
            value = self.timestamp()
        elif kind == "span":
            value = self.pick("1.5s", "-3s", "5", "0.000000001s")
        elif kind == "mask":
            value = self.pick("name", "name,inner.text", "stringValue", "")
        else:
            value = self.text()
        return name + "=" + (quote(value, safe="") if self.random.random() < 0.9 else quote(value, safe="+:,/"))

    def query(self, most=4):
        parts = [self.parameter() for _ in range(self.random.randrange(most + 1))]
        if self.random.random() < 0.05:
            parts.append(self.pick("", "flag", "=x", "&"))
        return "?" + "&".join(parts) if parts else ""

    # MARK: requests

    def get(self):
        path = self.pick(
            lambda: f"/v1/shelves/{self.segment()}/books/{self.segment()}",
            lambda: f"/v1/simple/{self.segment()}",
            lambda: f"/v1/simple/{self.segment()}:verb",
            lambda: f"/v1/nested/{self.segment()}/of/{self.pick('1', '-5', 'x')}",
            lambda: f"/v1/numbers/{self.pick('1', '-5', 'x')}/{self.pick('true', 'false', 'x')}/{self.pick('RED', '2', 'x')}",
            lambda: f"/v1/times/{quote(self.timestamp(), safe=self.pick('', ':'))}",
            lambda: f"/v1/wrapped/{self.pick('1', '-5', 'x')}/{self.pick('true', 'false')}",
            lambda: f"/v1/bytes/{self.pick('AAEC', '_-8=', 'A%3D%3D')}",
            lambda: f"/v1/any/{self.segment()}/thing",
            lambda: "/v1/simple/fixed", lambda: "/v1/query", lambda: "/v1/query", lambda: "/v1/query",
            lambda: "/v1/all:count",
        )()
        return "GET", path + self.query(), None, {}

    def create(self):
        method, path = self.pick(("POST", "/v1/all"), ("PUT", "/v1/all"), ("POST", f"/v1/shelves/{self.segment()}/all"))
        return method, path, self.everything(), {}

    def create_inner(self):
        return self.pick(
            lambda: ("POST", f"/v1/shelves/{self.segment()}/inner" + self.query(2), self.inner(), {}),
            lambda: ("PUT", "/v1/list/numbers" + self.query(1), self.pick([], [1, "2"], ["x"]), {}),
            lambda: ("PUT", "/v1/list/inners", [self.inner(), self.inner()], {}),
            lambda: ("PUT", "/v1/text", self.text(), {}),
            lambda: ("PUT", "/v1/time", self.timestamp(), {}),
            lambda: ("PUT", "/v1/labels", {"a": "b", "c": self.text()}, {}),
        )()

    def patch(self):
        return "PATCH", f"/v1/shelves/{self.segment()}" + self.query(2), self.inner(), {}

    def delete(self):
        parts = [self.segment() for _ in range(self.random.randrange(1, 4))]
        return "DELETE", "/v1/shelves/" + "/".join(parts), None, {}

    def publish(self):
        verb = self.pick(":publish", ":publish", ":other", "")
        return "POST", f"/v1/shelves/{self.segment()}/books/{self.segment()}{verb}", self.everything(), {}

    def custom(self):
        return "REPORT", f"/v1/report/{self.segment()}" + self.query(1), None, {}

    def response_body(self):
        return "GET", f"/v1/response/file/{self.segment()}", None, {}

    def watch(self):
        return "GET", f"/v1/watch/{self.pick('x', 'y', 'nothing', 'refused')}" + self.query(2), None, {}

    def collect(self):
        return "POST", "/v1/collect", [{"name": self.text()} for _ in range(self.random.randrange(4))], {}

    def file(self):
        return self.pick(
            lambda: ("GET", f"/v1/files/{self.segment()}/{self.segment()}", None, {}),
            lambda: ("POST", f"/v1/files/{self.segment()}?note={quote(self.text())}", b"\x00data", {"content-type": "image/png"}),
            lambda: ("POST", "/v1/raw", b"any \xff bytes", {"content-type": "text/x-any"}),
            lambda: ("POST", f"/v1/streams/{self.segment()}", b"some bytes", {"content-type": "text/x-any"}),
            lambda: ("GET", f"/v1/streams/{self.segment()}", None, {}),
        )()

    def fail(self):
        return "GET", f"/v1/fail/{self.random.randrange(1, 17)}?message={quote(self.text())}&detailed={self.pick('true', 'false')}", None, {}

    def headers(self):
        return "GET", "/v1/simple/x", None, {"x-echo-one": "1", "x-echo-two": "two", "accept": "application/json"}

    def strange(self):
        return self.pick(
            ("GET", "/", None, {}), ("GET", "/v1", None, {}), ("GET", "/v1/nothing", None, {}),
            ("POST", "/v1/query", {}, {}), ("DELETE", "/v1/all", None, {}), ("GET", "/v1/simple/", None, {}),
            ("GET", "/v1//simple/x", None, {}), ("GET", "/v1/simple/x/", None, {}), ("GET", "/v1/shelves//books/x", None, {}),
            ("GET", "/v1/shelves/x/books/", None, {}), ("GET", "/V1/query", None, {}), ("GET", "/%76%31/query", None, {}),
            ("GET", "/v1/simple/a%00b", None, {}), ("GET", "/v1/simple/%FF", None, {}), ("GET", "/v1/query?text=%FF", None, {}),
            ("GET", "/v1/../v1/query", None, {}), ("GET", "/v1/simple/x:other", None, {}), ("GET", "/v1/any/a:count", None, {}),
            ("POST", "/v1/all", b"{", {"content-type": "application/json"}),
            ("POST", "/v1/all", b"", {"content-type": "application/json"}),
            ("POST", "/v1/all", b"[]", {"content-type": "application/json"}),
            ("POST", "/v1/all", b"{} {}", {"content-type": "application/json"}),
            ("POST", "/v1/all", b'{"text":"\xff"}', {"content-type": "application/json"}),
            ("POST", "/v1/all", b'{"text":"x"}', {"content-type": "text/plain"}),
            ("POST", "/v1/all", b'{"text":"x"}', {}),
            ("POST", "/v1/all", b'{"text":"a","text":"b"}', {"content-type": "application/json"}),
            ("POST", "/v1/all", b"{'text':'x',}", {"content-type": "application/json"}),
            ("POST", "/v1/all", b"{" + b'"inner":{' + b'"deeper":{' * 150 + b"}" * 152, {"content-type": "application/json"}),
            ("POST", "/v1/all?text=x", {}, {}), ("GET", "/v1/simple/x?text=y", None, {}),
            ("POST", "/v1/shelves/x/inner?inner.text=y", {"text": "z"}, {}),
            ("GET", "/v1/watch/fails", None, {}),
            ("HEAD", "/v1/query", None, {}),
        )

    def next(self):
        make = self.random.choice([
            self.get, self.get, self.get, self.get, self.create, self.create, self.create_inner, self.patch, self.delete,
            self.publish, self.custom, self.response_body, self.watch, self.collect, self.file, self.fail, self.headers,
            self.strange, self.strange])
        method, target, body, headers = make()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers = {"content-type": "application/json", **headers}
        return method, target, body, headers


class Answer:
    def __init__(self, port, method, target, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        self.status = response.status
        self.type = response.getheader("content-type", "").split(";")[0]
        self.headers = {name: response.getheader(name) for name in ("x-echo-one", "x-echo-two")}
        try:
            self.body = response.read()
            self.isWhole = True
        except http.client.IncompleteRead as error:
            self.body = error.partial
            self.isWhole = False
        connection.close()

    def values(self):
        """The body as JSON, one value on each line; the bytes if it is something else."""
        try:
            return [json.loads(line) for line in self.body.split(b"\n") if line]
        except ValueError:
            return self.body

    def __str__(self):
        return f"{self.status} {self.type} {self.body[:400]!r}{'' if self.isWhole else ' (broken off)'}"


def same(one, other):
    """Whether answers are the same: the status, the type and the body; of errors of the request, the status."""
    if one.status != other.status:
        return False
    if one.status >= 400 and other.type != "application/json":
        return True
    return one.type == other.type and one.values() == other.values() and one.headers == other.headers


def parameters(target):
    return [part.split("=", 1)[0] for part in target.partition("?")[2].split("&") if "=" in part]


def sent(body):
    """The JSON that was sent, without what came twice."""
    try:
        return json.loads(body)
    except (TypeError, ValueError):
        return None


JSON = {"content-type": "application/json"}
# A request for each difference, so that all are seen.
CHOSEN = [
    ("GET", "/v1/watch/x", None, {}), ("GET", "/v1/watch/fails", None, {}), ("DELETE", "/v1/all", None, {}),
    ("POST", "/v1/all", b'{"text":"x"}', {"content-type": "text/plain"}),
    ("PATCH", "/v1/shelves/x", b'{"text":"y"}', JSON), ("GET", "/v1/simple/x?text=y", None, {}),
    ("GET", "/v1/query?inners.text=x", None, {}), ("POST", "/v1/all", b'{"nothing":1}', JSON),
    ("POST", "/v1/all", b'{"text":"a","text":"b"}', JSON), ("POST", "/v1/all", b"{'text':'x',}", JSON),
    ("GET", "/v1/simple/%FF", None, {}), ("GET", "/v1/query?color=7", None, {}), ("GET", "/v1/query?int32=1e3", None, {}),
    ("GET", "/v1/shelves//books/x", None, {}), ("GET", "/v1/query?mask=name&mask=text", None, {}),
    ("HEAD", "/v1/simple/x", None, {}), ("DELETE", "/v1/shelves/x", b'{"text":"y"}', JSON),
    ("GET", "/v1/query?text", None, {}),
]

# What docs/guide/REST.md lists: each a name, and whether a difference is of this kind.
DIFFERENCES = {
    "media type of streams": lambda method, target, body, headers, ours, envoys:
        ours.type == "application/x-ndjson" and envoys.type == "application/json" and ours.values() == envoys.values(),
    "errors in streams": lambda method, target, body, headers, ours, envoys:
        ours.type == "application/x-ndjson" and b'"error":' in ours.body and ours.values()[:-1] == envoys.values(),
    "HEAD": lambda method, target, body, headers, ours, envoys:
        method == "HEAD" and ours.status == 200 and envoys.status == 404,
    "other methods": lambda method, target, body, headers, ours, envoys:
        ours.status == 405 and envoys.status == 404,
    "media type of requests": lambda method, target, body, headers, ours, envoys:
        ours.status == 415 and envoys.status == 200 and not headers.get("content-type", "").startswith("application/json"),
    "the path before the body": lambda method, target, body, headers, ours, envoys:
        ours.status == envoys.status == 200 and isinstance(sent(body), dict)
        and ("text" if method == "PATCH" else "name") in sent(body),
    "fields of repeated messages": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status != 400 and "inners.text" in parameters(target),
    "parameters for bound fields": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 200 and b"is not a parameter" in ours.body,
    "bodies that the rule does not take": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 200 and b"takes none" in ours.body,
    "parameters without a value": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and any(
            part and part.find("=") < 1 for part in target.partition("?")[2].split("&")),
    "loose JSON": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 200 and b"'text'" in (body or b""),
    "unknown fields": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 200 and isinstance(sent(body), dict) and "nothing" in sent(body),
    "duplicate fields": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 200 and b'"text":"a","text":"b"' in (body or b""),
    "invalid UTF-8": lambda method, target, body, headers, ours, envoys:
        ours.status == 400 and envoys.status == 500 and "%FF" in target,
    "repeated masks": lambda method, target, body, headers, ours, envoys:
        ours.status == envoys.status == 200 and parameters(target).count("mask") > 1,
    "numbers of enums": lambda method, target, body, headers, ours, envoys:
        ours.status == 200 and envoys.status == 400 and any(part in target for part in ("color=7", "colors=7")),
    "numbers with exponents": lambda method, target, body, headers, ours, envoys:
        ours.status != 400 and envoys.status == 400 and "=1e3" in target,
    "empty segments": lambda method, target, body, headers, ours, envoys:
        ours.status in (404, 405) and envoys.status == 200 and "//" in target,
}


def reason(method, target, body, headers, ours, envoys):
    """The difference that docs/guide/REST.md lists, or None."""
    for name, applies in DIFFERENCES.items():
        if applies(method, target, body, headers, ours, envoys):
            return name
    return None


def main():
    upstream, protos, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    port = int(upstream.rsplit(":", 1)[1])
    with tempfile.TemporaryDirectory() as folder:
        transcoder = Transcoder(upstream, descriptors(protos, folder), folder)
        counts = {}
        try:
            requests = Requests(seed)
            for method, target, body, headers in CHOSEN + [requests.next() for _ in range(count - len(CHOSEN))]:
                ours = Answer(port, method, target, body, headers)
                envoys = Answer(transcoder.port, method, target, body, headers)
                if same(ours, envoys):
                    continue
                why = reason(method, target, body, headers, ours, envoys)
                if why:
                    counts[why] = counts.get(why, 0) + 1
                else:
                    print(f"{method} {target} {body!r} {headers}\n  ours:  {ours}\n  Envoy: {envoys}", flush=True)
        finally:
            transcoder.stop()
    for name in sorted(DIFFERENCES):
        print(f"difference {name}: {counts.get(name, 0)}", flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main()
