"""gRPC's own client of control planes (C-core, by grpcio), to compare with ours.

    grpcio_client.py BOOTSTRAP TARGET CALLS [--control-plane-security] [NAME=VALUE ...]   makes calls of echo.Echo/Get to an xds: target, with this metadata, and
                                                     prints in JSON how many each server, or each status, answered; then
                                                     the same for each number of calls that its input says
"""

import collections
import json
import os
import sys


def main():
    bootstrap, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    is_secured = sys.argv[4:5] == ["--control-plane-security"]
    metadata = [tuple(field.split("=", 1)) for field in sys.argv[5 if is_secured else 4:]]
    # Read when the library is loaded.
    os.environ["GRPC_XDS_BOOTSTRAP_CONFIG"] = bootstrap
    for feature in ("ORCA_LRS_PROPAGATION", "HTTP_CONNECT", "FALLBACK", "AUTHORITY_REWRITE"):
        os.environ["GRPC_EXPERIMENTAL_XDS_" + feature] = "true"
    import grpc
    import grpc.experimental

    fallback = grpc.experimental.insecure_channel_credentials()
    credentials = grpc.xds_channel_credentials(fallback) if is_secured else fallback
    with grpc.secure_channel(target, credentials) as channel:
        get = channel.unary_unary("/echo.Echo/Get")

        def call(count):
            answers = collections.Counter()
            for _ in range(count):
                try:
                    # The response has one text, which is short.
                    answers[get(b"", timeout=60, metadata=metadata)[2:].decode()] += 1
                except grpc.RpcError as error:
                    answers[error.code().name] += 1
            print(json.dumps(answers), flush=True)

        call(count)
        # The channel ends with the input.
        for line in sys.stdin:
            call(int(line))


if __name__ == "__main__":
    main()
