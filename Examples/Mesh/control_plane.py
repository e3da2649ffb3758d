#!/usr/bin/env python3
"""A control plane for one name, whose calls it divides among versions of a service. It needs grpcio and xds-protos.

    control_plane.py PORT VERSION=HOST:PORT...      e.g. control_plane.py 18000 v1=127.0.0.1:50051 v2=127.0.0.1:50052

Each line of its input is a number for each version, in the same order: its share of the calls from now on, such as `90 10`. It
starts with all calls at the first version, and ends with its input.
"""

import queue
import sys
import threading
from concurrent import futures

import grpc
from envoy.config.cluster.v3 import cluster_pb2
from envoy.config.endpoint.v3 import endpoint_pb2
from envoy.config.listener.v3 import listener_pb2
from envoy.config.route.v3 import route_pb2
from envoy.extensions.filters.http.router.v3 import router_pb2  # noqa: F401
from envoy.extensions.filters.network.http_connection_manager.v3 import http_connection_manager_pb2  # noqa: F401
from envoy.service.discovery.v3 import ads_pb2_grpc, discovery_pb2
from google.protobuf import any_pb2, json_format

NAME = "greeter"
URL = "type.googleapis.com/"
FILTERS = URL + "envoy.extensions.filters."
# What is named is sent before what names it.
KINDS = {
    URL + kind.DESCRIPTOR.full_name: kind
    for kind in (
        cluster_pb2.Cluster,
        endpoint_pb2.ClusterLoadAssignment,
        listener_pb2.Listener,
        route_pb2.RouteConfiguration,
    )
}


def resources(servers, shares):
    """All that a client may ask for, by type and name."""
    manager = {
        "@type": FILTERS + "network.http_connection_manager.v3.HttpConnectionManager",
        "rds": {"routeConfigName": "routes", "configSource": {"ads": {}}},
        "httpFilters": [{"name": "router", "typedConfig": {"@type": FILTERS + "http.router.v3.Router"}}],
    }
    weights = [{"name": version, "weight": share} for version, share in zip(servers, shares)]
    route = {"match": {"prefix": ""}, "route": {"weightedClusters": {"clusters": weights}}}
    found = {
        listener_pb2.Listener: {NAME: {"name": NAME, "apiListener": {"apiListener": manager}}},
        route_pb2.RouteConfiguration: {
            "routes": {"name": "routes", "virtualHosts": [{"name": NAME, "domains": [NAME], "routes": [route]}]}
        },
        cluster_pb2.Cluster: {},
        endpoint_pb2.ClusterLoadAssignment: {},
    }
    for version, (host, port) in servers.items():
        found[cluster_pb2.Cluster][version] = {
            "name": version,
            "type": "EDS",
            "edsClusterConfig": {"edsConfig": {"ads": {}}},
        }
        address = {"socketAddress": {"address": host, "portValue": port}}
        found[endpoint_pb2.ClusterLoadAssignment][version] = {
            "clusterName": version,
            "endpoints": [
                {"locality": {"zone": "here"}, "loadBalancingWeight": 1, "lbEndpoints": [{"endpoint": {"address": address}}]}
            ],
        }
    return found


class ControlPlane(ads_pb2_grpc.AggregatedDiscoveryServiceServicer):
    """ADS, state of the world: each response has all resources of a type that the client has asked for."""

    def __init__(self, servers):
        self.servers = servers
        self.lock = threading.Lock()
        self.version = 0
        self.streams = set()
        self.divide([1] + [0] * (len(servers) - 1))

    def divide(self, shares):
        """From now on, each version gets its share of the calls."""
        with self.lock:
            self.version += 1
            self.resources = resources(self.servers, shares)
            for events in self.streams:
                events.put("changed")

    def StreamAggregatedResources(self, requests, context):
        events = queue.Queue()
        with self.lock:
            self.streams.add(events)

        def read():
            try:
                for request in requests:
                    events.put(request)
            except grpc.RpcError:
                pass
            events.put(None)

        threading.Thread(target=read, daemon=True).start()
        wanted = {}  # the names that the client has asked for, by type
        nonces = {}
        count = 0
        while (event := events.get()) is not None:
            if event == "changed":
                urls = [url for url in KINDS if url in wanted]
            else:
                if event.HasField("error_detail"):
                    print(f"the client refuses: {event.error_detail.message}", file=sys.stderr)
                # A request about an older response is not answered, nor is one that asks for nothing new.
                is_stale = event.response_nonce and event.response_nonce != nonces.get(event.type_url)
                names = list(event.resource_names)
                if is_stale or event.response_nonce and names == wanted.get(event.type_url):
                    continue
                wanted[event.type_url] = names
                urls = [event.type_url]
            for url in urls:
                response = self.response(url, wanted[url])
                count += 1
                nonces[url] = response.nonce = str(count)
                yield response
        with self.lock:
            self.streams.discard(events)

    def response(self, url, names):
        with self.lock:
            response = discovery_pb2.DiscoveryResponse(version_info=str(self.version), type_url=url)
            for name in names:
                if (value := self.resources[KINDS[url]].get(name)) is not None:
                    packed = any_pb2.Any()
                    packed.Pack(json_format.ParseDict(value, KINDS[url]()))
                    response.resources.append(packed)
            return response


def shares_of(line, servers):
    """The numbers in a line of the input; None if it is not one for each version."""
    words = line.split()
    if len(words) != len(servers) or not all(word.isdecimal() for word in words):
        print("write a number for each version, such as", *[100 // len(servers)] * len(servers), file=sys.stderr)
        return None
    return [int(word) for word in words]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    port, *words = sys.argv[1:]
    servers = {}
    for word in words:
        version, address = word.split("=")
        host, number = address.rsplit(":", 1)
        servers[version] = (host, int(number))
    plane = ControlPlane(servers)
    # Otherwise a second one could listen on the same port, and each would get some of the clients.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16), options=[("grpc.so_reuseport", 0)])
    ads_pb2_grpc.add_AggregatedDiscoveryServiceServicer_to_server(plane, server)
    print("the control plane is listening on port", server.add_insecure_port(f"127.0.0.1:{port}"), flush=True)
    server.start()
    for line in sys.stdin:
        if (shares := shares_of(line, servers)) is not None:
            plane.divide(shares)
            print("divided:", *shares, flush=True)
    server.stop(None)


if __name__ == "__main__":
    main()
