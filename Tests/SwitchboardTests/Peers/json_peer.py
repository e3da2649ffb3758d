"""The other side of JSONPeerTests: grpcio's generic stubs, which know no .proto, with JSON for bytes.

    json_peer.py client TARGET   calls every method of shop.Stock; prints what is wrong, then "done"
    json_peer.py server          serves shop.Stock; prints its port; ends when its input does
"""

import json
import sys
from concurrent import futures

import grpc


def write(value):
    return json.dumps(value).encode()


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def failure(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return None


def client(target):
    with grpc.insecure_channel(target) as channel:
        path = "/shop.Stock/"
        find = channel.unary_unary(path + "Find", write, json.loads)
        expect("Find", find({"name": "kettle"}), {"name": "kettle", "count": 3})
        expect("not found", failure(lambda: find({"name": "nothing"})), grpc.StatusCode.NOT_FOUND)
        expect("another shape", failure(lambda: find({"title": 1})), grpc.StatusCode.INTERNAL)
        broken = channel.unary_unary(path + "Find", lambda text: text, json.loads)
        expect("no JSON", failure(lambda: broken(b"{")), grpc.StatusCode.INTERNAL)
        listing = channel.unary_stream(path + "List", write, json.loads)
        expect("List", [item["count"] for item in listing({"name": "a"})], [1, 2, 3])
        items = [{"name": "a", "count": 1}, {"name": "b", "count": 2}]
        count = channel.stream_unary(path + "Count", write, json.loads)
        expect("Count", count(iter(items)), {"name": "ab", "count": 3})
        move = channel.stream_stream(path + "Move", write, json.loads)
        expect("Move", [item["count"] for item in move(iter(items))], [-1, -2])
        expect("a stream's shape", failure(lambda: list(move(iter([{"count": "x"}])))), grpc.StatusCode.INTERNAL)
        expect("after all that", find({"name": "pan"}), {"name": "pan", "count": 3})
    print("done", flush=True)


def find(query, context):
    return {"name": query["name"], "count": 3}


def list_items(query, context):
    for count in (1, 2, 3):
        yield {"name": query["name"], "count": count}


def count(items, context):
    items = list(items)
    return {"name": "".join(item["name"] for item in items), "count": sum(item["count"] for item in items)}


def move(items, context):
    for item in items:
        yield {"name": item["name"], "count": -item["count"]}


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    handlers = {
        "Find": grpc.unary_unary_rpc_method_handler(find, json.loads, write),
        "List": grpc.unary_stream_rpc_method_handler(list_items, json.loads, write),
        "Count": grpc.stream_unary_rpc_method_handler(count, json.loads, write),
        "Move": grpc.stream_stream_rpc_method_handler(move, json.loads, write),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Stock", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(0)


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(sys.argv[2])
    else:
        serve()
