"""gRPC's own client of control planes (C-core, by grpcio), to compare with ours.

    grpcio_client.py BOOTSTRAP TARGET CALLS [--control-plane-security] [--data-errors] [NAME=VALUE ...]   makes calls of echo.Echo/Get to an xds: target,
                                                     with this metadata, and prints in JSON how many each server, or each status,
                                                     answered; then the same for each line of its input like
    {"calls": COUNT, "metadata": [[NAME, VALUE], ...], "at_once": COUNT}   as many calls, with this metadata too
    {..., "cancel": true}                            as many, each of which is cancelled when a call without the metadata, which is made
                                                     after it, is answered; prints {"answered": COUNT}
    {"hold": true}                                   begins a call of echo.Echo/Update, which goes on
    {"hold": false}                                  ends it
"""

import collections
import json
import os
import queue
import sys


def main():
    bootstrap, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    flags = [word for word in sys.argv[4:] if word.startswith("--")]
    is_secured = "--control-plane-security" in flags
    metadata = [tuple(field.split("=", 1)) for field in sys.argv[4 + len(flags):]]
    # Read when the library is loaded.
    os.environ["GRPC_XDS_BOOTSTRAP_CONFIG"] = bootstrap
    features = ["ORCA_LRS_PROPAGATION", "HTTP_CONNECT", "FALLBACK", "AUTHORITY_REWRITE", "SNI"]
    # With it, what is deleted is still used.
    if "--data-errors" in flags:
        features.append("DATA_ERROR_HANDLING")
    for feature in features:
        os.environ["GRPC_EXPERIMENTAL_XDS_" + feature] = "true"
    import grpc
    import grpc.experimental

    fallback = grpc.experimental.insecure_channel_credentials()
    credentials = grpc.xds_channel_credentials(fallback) if is_secured else fallback
    with grpc.secure_channel(target, credentials) as channel:
        get = channel.unary_unary("/echo.Echo/Get")
        update = channel.stream_stream("/echo.Echo/Update")

        def answer(call):
            try:
                # The response has one text, which is short.
                return call.result()[2:].decode()
            except grpc.RpcError as error:
                return error.code().name

        def call(count, metadata, at_once=1):
            answers, calls = collections.Counter(), collections.deque()
            for _ in range(count):
                if len(calls) == at_once:
                    answers[answer(calls.popleft())] += 1
                calls.append(get.future(b"", timeout=60, metadata=metadata))
            answers.update(answer(call) for call in calls)
            print(json.dumps(answers), flush=True)

        def answered(count, metadata):
            answers = collections.Counter()
            for _ in range(count):
                one = get.future(b"", timeout=600, metadata=metadata)
                # Both end on the same thread, one after the other.
                get.future(b"", timeout=60).result()
                one.cancel()
                answers[one.code()] += 1
            print(json.dumps({"answered": answers[grpc.StatusCode.OK]}), flush=True)

        def hold():
            requests = queue.Queue()
            requests.put(b"")
            replies = update(iter(requests.get, None))
            next(replies)
            print("{}", flush=True)
            return requests, replies

        call(count, metadata)
        # The channel ends with the input.
        for line in sys.stdin:
            order = json.loads(line)
            if order.get("hold"):
                requests, replies = hold()
            elif "hold" in order:
                requests.put(None)
                list(replies)
                print("{}", flush=True)
            else:
                more = [(name, value.encode() if name.endswith("-bin") else value) for name, value in order["metadata"]]
                if "cancel" in order:
                    answered(order["calls"], metadata + more)
                else:
                    call(order["calls"], metadata + more, order["at_once"])


if __name__ == "__main__":
    main()
