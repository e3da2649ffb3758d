"""Checks a manifest of Kubernetes without a cluster: kubernetes_fields.py FILE

Prints a line for each field that Kubernetes does not have at its place, for each value of another type, and for each name
or port that does not refer to what it should. The fields are those of the API's reference (apps/v1, v1), as far as the
manifests of 'switchboard new' could use them.
"""

import sys

import yaml

META = {"name": str, "labels": dict, "annotations": dict, "namespace": str}
GRPC_PROBE = {
    "grpc": {"port": int, "service": str}, "periodSeconds": int, "timeoutSeconds": int, "initialDelaySeconds": int,
    "failureThreshold": int, "successThreshold": int,
}
CONTAINER = {
    "name": str, "image": str, "args": [str], "command": [str],
    "ports": [{"containerPort": int, "name": str, "protocol": str}],
    "env": [{"name": str, "value": str, "valueFrom": {"secretKeyRef": {"name": str, "key": str, "optional": bool}}}],
    "livenessProbe": GRPC_PROBE, "readinessProbe": GRPC_PROBE, "startupProbe": GRPC_PROBE,
    "resources": {"limits": dict, "requests": dict},
    "securityContext": {
        "runAsNonRoot": bool, "runAsUser": int, "allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool,
        "capabilities": {"drop": [str], "add": [str]},
    },
}
POD = {"containers": [CONTAINER], "terminationGracePeriodSeconds": int, "serviceAccountName": str}
KINDS = {
    ("apps/v1", "Deployment"): {
        "apiVersion": str, "kind": str, "metadata": META,
        "spec": {"replicas": int, "selector": {"matchLabels": dict}, "template": {"metadata": META, "spec": POD}},
    },
    ("v1", "Service"): {
        "apiVersion": str, "kind": str, "metadata": META,
        "spec": {
            "clusterIP": str, "selector": dict, "type": str,
            "ports": [{"port": int, "targetPort": int, "name": str, "protocol": str, "appProtocol": str}],
        },
    },
}


def check(value, shape, path):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            yield f"{path} is not a map"
            return
        for name, member in value.items():
            if name in shape:
                yield from check(member, shape[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is unknown"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{path} is not a list"
            return
        for index, element in enumerate(value):
            yield from check(element, shape[0], f"{path}[{index}]")
    elif type(value) is not shape:
        yield f"{path} is {value!r}, not of type {shape.__name__}"


def references(deployment, service):
    spec = deployment["spec"]
    labels = spec["template"]["metadata"]["labels"]
    if spec["selector"]["matchLabels"].items() - labels.items():
        yield "the deployment does not select its own pods"
    if service["spec"]["selector"].items() - labels.items():
        yield "the service does not select the pods"
    for container in spec["template"]["spec"]["containers"]:
        ports = {port["containerPort"] for port in container["ports"]}
        for probe in ("livenessProbe", "readinessProbe"):
            if container[probe]["grpc"]["port"] not in ports:
                yield f"{probe} asks a port that the container does not have"
        if {port.get("targetPort", port["port"]) for port in service["spec"]["ports"]} - ports:
            yield "the service leads to a port that the container does not have"


documents = list(yaml.safe_load_all(open(sys.argv[1])))
found = []
for document in documents:
    kind = document.get("apiVersion"), document.get("kind")
    found += check(document, KINDS[kind], kind[1]) if kind in KINDS else [f"{kind} is no kind that is known"]
if [document.get("kind") for document in documents] != ["Deployment", "Service"]:
    found.append("a deployment and a service are expected")
print("\n".join(found or references(*documents)))
