"""Reads the OpenAPI document of a server, checks it, and calls the server by a client that is generated from it.

    openapi_peer.py TARGET

Prints what is wrong, then "done".
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def generate(document, folder):
    """Writes a client for the document, and returns the name of its package."""
    path = os.path.join(folder, "openapi.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    config = os.path.join(folder, "config.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("post_hooks: []\n")
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", path, "--meta", "none",
         "--output-path", os.path.join(folder, "rest_client"), "--config", config],
        capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print(f"no client was generated: {made.stdout}{made.stderr}", flush=True)
        sys.exit(1)
    sys.path.insert(0, folder)
    return "rest_client"


def calls(package, url):
    client = importlib.import_module(package).Client(base_url=url)
    models = importlib.import_module(package + ".models")

    def call(operation, **arguments):
        return importlib.import_module(f"{package}.api.testing_rest_rest.{operation}").sync(client=client, **arguments)

    book = call("rest_get", shelves_id="1", books_id="a b", int32=5, texts=["x", "y"])
    expect("a name of two wildcards", book.name, "shelves/1/books/a b")
    expect("a number in the query", book.int32, 5)
    expect("a list in the query", book.texts, ["x", "y"])
    expect("a variable", call("rest_get_2", text="a/b", name="n").text, "a/b")
    inner = models.TestingRestInner(text="x", number="9007199254740993")
    everything = models.TestingRestEverything(name="n", inner=inner, color=models.TestingRestColor.RED)
    created = call("rest_create", body=everything)
    expect("a message in the body", created.inner.number, "9007199254740993")
    expect("an enum in the body", created.color, models.TestingRestColor.RED)
    expect("a field as the body", call("rest_create_inner", shelves_id="7", body=inner).name, "shelves/7")
    expect("a field of a message in the path", call("rest_get_3", inner_text="x", inner_deeper_number="5", name="n").inner.deeper.number, "5")
    expect("a file", call("rest_download", text="x", name="n").payload.read(), b"file x")
    error = call("rest_fail", code=5, message="gone")
    expect("an error", (error.code, error.message), (5, "gone"))


def main():
    url = f"http://{sys.argv[1]}"
    with urllib.request.urlopen(url + "/openapi.json") as answer:
        document = json.load(answer)
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        print(f"the document is not valid: {error.message} at {list(error.absolute_path)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        calls(generate(document, folder), url)
    print("done", flush=True)


if __name__ == "__main__":
    main()
