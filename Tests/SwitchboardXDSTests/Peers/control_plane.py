"""A control plane for tests: xDS v3, aggregated, state of the world.

    control_plane.py [PORT]     listens on 127.0.0.1, on a free port unless one is given, and prints {"port": PORT}

Commands are lines of JSON on the standard input:

    {"version": TEXT, "resources": {TYPE: [RESOURCE, ...]}}   what there is from now on. TYPE is listeners, routes, clusters or
                                                      endpoints. A RESOURCE is one in JSON, or {"bytes": BASE64} for one
                                                      that cannot be decoded. Types that are left out stay as they are
    {"errors": {TYPE: [[NAME, CODE, TEXT], ...]}}     why it does not send resources that are asked for, from now on; of all types. A
                                                      CODE is a number, and 0 is none
    {"delay": SECONDS}                                how late responses are sent from now on
    {"cut": true}                                     ends all streams
    {"flap": true}                                    from now on, each stream ends after its first response, and every second one
                                                      before that
    {"reports": {"seconds": SECONDS, "clusters": [...]}}   which reports of load it asks for from now on, of all clusters unless
                                                      some are named; null: it does not know what reports are

It answers each with {"done": NUMBER}, and prints an event for each request: {"event": "asked" | "accepted" | "refused",
"type": TYPE, "names": [...], "version": TEXT, "reason": TEXT, "node": ID, "token": AUTHORIZATION}, and {"event": "left", ...} when a
stream has ended. For each stream of reports and each report there is {"event": "reporting" | "reported", ...}, with the clusters of
the report in "load". It ends with its input.
"""

import base64
import json
import queue
import sys
import threading
import time
from concurrent import futures

import grpc
from envoy.config.cluster.v3 import cluster_pb2
from envoy.config.endpoint.v3 import endpoint_pb2
from envoy.config.listener.v3 import listener_pb2
from envoy.config.route.v3 import route_pb2
from envoy.extensions.clusters.aggregate.v3 import cluster_pb2 as aggregate_pb2  # noqa: F401
from envoy.extensions.filters.http.fault.v3 import fault_pb2  # noqa: F401
from envoy.extensions.filters.http.grpc_json_transcoder.v3 import transcoder_pb2  # noqa: F401
from envoy.extensions.filters.http.grpc_web.v3 import grpc_web_pb2  # noqa: F401
from envoy.extensions.filters.http.rbac.v3 import rbac_pb2  # noqa: F401
from envoy.extensions.filters.http.router.v3 import router_pb2  # noqa: F401
from envoy.extensions.filters.http.stateful_session.v3 import stateful_session_pb2  # noqa: F401
from envoy.extensions.filters.network.http_connection_manager.v3 import http_connection_manager_pb2  # noqa: F401
from envoy.extensions.http.stateful_session.cookie.v3 import cookie_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3 import client_side_weighted_round_robin_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.cluster_provided.v3 import cluster_provided_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.least_request.v3 import least_request_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.pick_first.v3 import pick_first_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.ring_hash.v3 import ring_hash_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.round_robin.v3 import round_robin_pb2  # noqa: F401
from envoy.extensions.load_balancing_policies.wrr_locality.v3 import wrr_locality_pb2  # noqa: F401
from envoy.extensions.retry.host.previous_hosts.v3 import previous_hosts_pb2  # noqa: F401
from envoy.extensions.transport_sockets.http_11_proxy.v3 import upstream_http_11_connect_pb2  # noqa: F401
from envoy.extensions.transport_sockets.tls.v3 import tls_pb2  # noqa: F401
from envoy.extensions.upstreams.http.v3 import http_protocol_options_pb2  # noqa: F401
from envoy.service.discovery.v3 import ads_pb2_grpc, discovery_pb2
from envoy.service.load_stats.v3 import lrs_pb2, lrs_pb2_grpc
from google.protobuf import any_pb2, json_format
from xds.type.v3 import typed_struct_pb2  # noqa: F401

# In the order in which changes are sent: what is named before what names it.
TYPES = {
    "clusters": (cluster_pb2.Cluster, "name"),
    "endpoints": (endpoint_pb2.ClusterLoadAssignment, "cluster_name"),
    "listeners": (listener_pb2.Listener, "name"),
    "routes": (route_pb2.RouteConfiguration, "name"),
}
URLS = {name: "type.googleapis.com/" + kind.DESCRIPTOR.full_name for name, (kind, _) in TYPES.items()}
NAMES = {url: name for name, url in URLS.items()}


# Streams have threads of their own, whose lines must not be mixed.
SAYING = threading.Lock()


def say(**event):
    with SAYING:
        print(json.dumps(event), flush=True)


def pack(kind, value):
    """The resource and its name; the name of one that cannot be decoded is not known."""
    if "bytes" in value:
        broken = any_pb2.Any(type_url=URLS[kind], value=base64.b64decode(value["bytes"]))
        return None, broken
    message_type, name_field = TYPES[kind]
    message = json_format.ParseDict(value, message_type())
    packed = any_pb2.Any()
    packed.Pack(message)
    return getattr(message, name_field), packed


def is_for_clients(packed):
    """Whether a listener is one of gRPC's clients, which a proxy refuses."""
    listener = listener_pb2.Listener()
    return packed.Unpack(listener) and listener.HasField("api_listener")


class Plane(ads_pb2_grpc.AggregatedDiscoveryServiceServicer):
    def __init__(self):
        self.lock = threading.Lock()
        self.version = "0"
        self.resources = {kind: [] for kind in TYPES}
        self.errors = {}
        self.delay = 0.0
        self.streams = set()
        self.flaps = False
        self.count = 0

    def change(self, command):
        with self.lock:
            self.delay = command.get("delay", self.delay)
            self.flaps = command.get("flap", self.flaps)
            if "resources" in command:
                self.version = command["version"]
                for kind, values in command["resources"].items():
                    self.resources[kind] = [pack(kind, value) for value in values]
            self.errors = command.get("errors", self.errors)
            kinds = [*command.get("resources", {}), *command.get("errors", {})]
            for events in self.streams:
                events.put(None if command.get("cut") else ("changed", kinds))

    def StreamAggregatedResources(self, requests, context):
        events = queue.Queue()
        with self.lock:
            self.streams.add(events)
            self.count += 1
            (flaps, is_even) = (self.flaps, self.count % 2 == 0)

        def read():
            try:
                for request in requests:
                    events.put(("request", request))
            except grpc.RpcError:
                pass
            events.put(None)

        threading.Thread(target=read, daemon=True).start()
        names, nonces, count, all_of = {}, {}, 0, set()
        token = dict(context.invocation_metadata()).get("authorization", "")
        try:
            if flaps and is_even:
                context.abort(grpc.StatusCode.UNAVAILABLE, "it comes and goes")
            while (event := events.get()) is not None:
                what, value = event
                if what == "request":
                    kind = NAMES[value.type_url]
                    wanted = list(value.resource_names)
                    self.report(kind, value, token)
                    is_current = not value.response_nonce or value.response_nonce == nonces.get(kind)
                    if not is_current or names.get(kind) == wanted and value.response_nonce:
                        continue
                    # A proxy asks for all listeners and clusters, by no name.
                    if kind not in names and not wanted:
                        all_of.add(kind)
                    names[kind] = wanted
                    kinds = [kind]
                else:
                    kinds = [kind for kind in TYPES if kind in value]
                for kind in kinds:
                    if not names.get(kind) and kind not in all_of:
                        continue
                    count += 1
                    nonces[kind] = str(count)
                    time.sleep(self.delay)
                    yield self.response(kind, None if kind in all_of else names[kind], nonces[kind])
                    if flaps:
                        return
        finally:
            with self.lock:
                self.streams.discard(events)
            say(event="left", type="", names=[], version="", reason="", node="", token=token)

    def response(self, kind, names, nonce):
        def is_wanted(name, packed):
            if names is not None:
                return name is None or name in names
            return kind != "listeners" or not is_for_clients(packed)

        with self.lock:
            found = [packed for name, packed in self.resources[kind] if is_wanted(name, packed)]
            response = discovery_pb2.DiscoveryResponse(
                version_info=self.version, type_url=URLS[kind], nonce=nonce, resources=found
            )
            for name, code, text in self.errors.get(kind, []):
                if names is None or name in names or not name:
                    error = response.resource_errors.add()
                    error.resource_name.name = name
                    error.error_detail.code, error.error_detail.message = code, text
            return response

    def report(self, kind, request, token):
        event = "asked" if not request.response_nonce else "accepted"
        if request.HasField("error_detail"):
            event = "refused"
        say(
            event=event,
            type=kind,
            names=list(request.resource_names),
            version=request.version_info,
            reason=request.error_detail.message,
            node=request.node.id,
            token=token,
        )


def load_of(cluster):
    """What a report says of a cluster; the metrics as [CALLS, SUM]."""
    places = {}
    for place in cluster.upstream_locality_stats:
        metrics = {m.metric_name: [m.num_requests_finished_with_metric, m.total_metric_value] for m in place.load_metric_stats}
        for name in ("cpu_utilization", "mem_utilization", "application_utilization"):
            if place.HasField(name):
                metric = getattr(place, name)
                metrics[name] = [metric.num_requests_finished_with_metric, metric.total_metric_value]
        places[place.locality.zone] = {
            "issued": place.total_issued_requests,
            "succeeded": place.total_successful_requests,
            "failed": place.total_error_requests,
            "current": place.total_requests_in_progress,
            "metrics": metrics,
        }
    return {
        "cluster": cluster.cluster_name,
        "service": cluster.cluster_service_name,
        "seconds": cluster.load_report_interval.seconds + cluster.load_report_interval.nanos / 1e9,
        "dropped": cluster.total_dropped_requests,
        "drops": {drop.category: drop.dropped_count for drop in cluster.dropped_requests},
        "places": places,
    }


class Reports(lrs_pb2_grpc.LoadReportingServiceServicer):
    def __init__(self):
        self.lock = threading.Lock()
        self.order = None
        self.streams = set()

    def change(self, command):
        with self.lock:
            if "reports" in command:
                self.order = command["reports"]
            for events in self.streams:
                if "reports" in command:
                    events.put(self.order)
                if command.get("cut"):
                    events.put(None)

    def say(self, event, request):
        load = [load_of(cluster) for cluster in request.cluster_stats]
        features = list(request.node.client_features)
        say(event=event, type="", names=features, version="", reason="", node=request.node.id, token="", load=load)

    def StreamLoadStats(self, requests, context):
        with self.lock:
            order = self.order
            if order is None:
                context.abort(grpc.StatusCode.UNIMPLEMENTED, "no reports")
            events = queue.Queue()
            events.put(order)
            self.streams.add(events)

        def read():
            try:
                first = next(requests)
                self.say("reporting", first)
                for request in requests:
                    # Only the first one has to say who reports.
                    request.node.CopyFrom(first.node)
                    self.say("reported", request)
            except (grpc.RpcError, StopIteration):
                pass
            events.put(None)

        threading.Thread(target=read, daemon=True).start()
        try:
            while (order := events.get()) is not None:
                clusters = order.get("clusters", [])
                response = lrs_pb2.LoadStatsResponse(clusters=clusters, send_all_clusters=not clusters)
                response.load_reporting_interval.FromMilliseconds(int(order["seconds"] * 1000))
                yield response
        finally:
            with self.lock:
                self.streams.discard(events)
            say(event="unreported", type="", names=[], version="", reason="", node="", token="")


def main():
    plane, reports = Plane(), Reports()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64))
    ads_pb2_grpc.add_AggregatedDiscoveryServiceServicer_to_server(plane, server)
    lrs_pb2_grpc.add_LoadReportingServiceServicer_to_server(reports, server)
    port = server.add_insecure_port("127.0.0.1:" + (sys.argv[1] if len(sys.argv) > 1 else "0"))
    server.start()
    say(port=port)
    for number, line in enumerate(sys.stdin):
        command = json.loads(line)
        plane.change(command)
        reports.change(command)
        say(done=number)
    server.stop(None)


if __name__ == "__main__":
    main()
