"""Calls of sessions by gRPC's own client of control planes (C-core, by grpcio), to compare with ours.

    session_client.py BOOTSTRAP TARGET METHOD COOKIE ...   makes a call for each COOKIE, which it sends, if it is not empty; "=" stands
                                                           for the last one that came. Prints in JSON, for each call, the server
                                                           that answered and the cookies that came with its answer
"""

import json
import os
import sys


def main():
    bootstrap, target, method = sys.argv[1:4]
    # Read when the library is loaded.
    os.environ["GRPC_XDS_BOOTSTRAP_CONFIG"] = bootstrap
    os.environ["GRPC_EXPERIMENTAL_XDS_ENABLE_OVERRIDE_HOST"] = "true"
    import grpc

    answers, last = [], ""
    with grpc.insecure_channel(target) as channel:
        get = channel.unary_unary(method)
        for cookie in sys.argv[4:]:
            cookie = last if cookie == "=" else cookie
            metadata = [("cookie", cookie)] if cookie else []
            try:
                # The response has one text, which is short.
                answer, call = get.with_call(b"", timeout=60, metadata=metadata)
                cookies = [value for name, value in call.initial_metadata() if name == "set-cookie"]
                answers.append([answer[2:].decode()] + cookies)
                if cookies:
                    last = cookies[-1].split(";")[0]
            except grpc.RpcError as error:
                answers.append([error.code().name])
    print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
