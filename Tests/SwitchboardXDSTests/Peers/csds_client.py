"""Reads a client's status by grpcio and xds-protos.

    csds_client.py TARGET SCOPE          prints what the client with this scope knows, in JSON, as both methods of the service tell it
    csds_client.py TARGET SCOPE names    the same without the resources themselves
    csds_client.py TARGET SCOPE match    prints the status of a request with a matcher of nodes
"""

import json
import sys

import grpc
from envoy.config.cluster.v3 import cluster_pb2  # noqa: F401
from envoy.config.endpoint.v3 import endpoint_pb2  # noqa: F401
from envoy.config.listener.v3 import listener_pb2  # noqa: F401
from envoy.config.route.v3 import route_pb2  # noqa: F401
from envoy.extensions.filters.http.router.v3 import router_pb2  # noqa: F401
from envoy.extensions.filters.network.http_connection_manager.v3 import http_connection_manager_pb2  # noqa: F401
from envoy.service.status.v3 import csds_pb2, csds_pb2_grpc
from google.protobuf import json_format


def resource(message):
    return json_format.MessageToDict(message, preserving_proto_field_name=True) if message.type_url else {}


def shown(config):
    return {
        "type": config.type_url.rpartition(".")[2],
        "name": config.name,
        "version": config.version_info,
        "status": config.DESCRIPTOR.fields_by_name["client_status"].enum_type.values_by_number[config.client_status].name,
        "contents": json.dumps(resource(config.xds_config)),
        "isDated": config.HasField("last_updated"),
        "reason": config.error_state.details,
        "refused": config.error_state.version_info,
        "failed": json.dumps(resource(config.error_state.failed_configuration)),
    }


def main():
    target, scope, mode = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
    request = csds_pb2.ClientStatusRequest(exclude_resource_contents=mode == "names")
    with grpc.insecure_channel(target) as channel:
        service = csds_pb2_grpc.ClientStatusDiscoveryServiceStub(channel)
        if mode == "match":
            request.node_matchers.add().node_id.exact = "x"
            try:
                service.FetchClientStatus(request, timeout=60)
            except grpc.RpcError as error:
                print(json.dumps(error.code().name), flush=True)
            return
        answers = [service.FetchClientStatus(request, timeout=60)]
        answers += service.StreamClientStatus(iter([request, request]), timeout=60)
    # The process may have other clients, of other tests.
    clients = [next(client for client in answer.config if client.client_scope == scope) for answer in answers]
    client = clients[0]
    if clients != [client] * 3:
        sys.exit("the methods differ")
    print(json.dumps({"node": client.node.id, "resources": [shown(config) for config in client.generic_xds_configs]}), flush=True)


if __name__ == "__main__":
    main()
