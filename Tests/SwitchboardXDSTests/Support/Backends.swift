import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardXDS

/// A server that says which one it is.
struct NamedEcho: EchoingProvider {
  let name: String

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    .with { $0.text = name }
  }
}

/// Can answer no call now.
struct Failing: EchoingProvider {
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    throw GRPCStatus(code: .unavailable, message: "not now")
  }
}

/// Answers no call.
struct Silent: EchoingProvider {
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    try await Task.sleep(for: .seconds(600))
    return Echo_EchoResponse()
  }
}

/// Runs `body` with a control plane, with servers of the names `s0`, `s1` and so on, and with their ports.
func withMesh<Value>(
  servers: Int,
  _ body: (PlanePeer, [Int]) async throws -> Value
) async throws -> Value {
  try await withMesh((0..<servers).map { NamedEcho(name: "s\($0)") }, body)
}

/// The same with other servers.
func withMesh<Value>(
  _ servers: [any CallHandlerProvider],
  _ body: (PlanePeer, [Int]) async throws -> Value
) async throws -> Value {
  let plane = try PlanePeer()
  return try await withServers(servers.map { [$0] }) { _, addresses async throws in
    try await body(plane, addresses.compactMap(\.port).map { Int($0) })
  }
}

/// Runs `body` with a client of a channel to an `xds:` target.
func withMeshClient<Value>(
  _ target: String,
  _ bootstrap: XDSBootstrap,
  _ change: (inout ChannelOptions) -> Void = { _ in },
  _ body: (Echo_EchoClient) async throws -> Value
) async throws -> Value {
  var options = ChannelOptions()
  options.security = .plaintext
  options.resolvers = [XDSResolver(bootstrap: bootstrap, logger: .quiet)]
  change(&options)
  return try await withChannel(to: target, options: options) { channel async throws in
    try await body(Echo_EchoClient(channel: channel))
  }
}

extension Echo_EchoClient {
  /// The name of the server that answers.
  func server(_ metadata: [(String, String)] = []) async throws -> String {
    var options = CallOptions()
    options.timeout = .seconds(60)
    options.initialMetadata = HPACKHeaders(metadata)
    return try await get(Echo_EchoRequest(), callOptions: options).text
  }
}
