import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall

/// A provider that answers with its name, or refuses calls.
final class Replica: Echo_EchoProvider {
  let name: String
  var interceptors: Interceptors? { nil }
  private let refusing = Locked(false)
  private let beforeGet = Locked<(@Sendable () async -> Void)?>(nil)

  init(_ name: String) { self.name = name }

  /// Whether calls fail as unavailable.
  var refuses: Bool {
    get { refusing.withLock { $0 } }
    set { refusing.withLock { $0 = newValue } }
  }

  /// Runs before each unary call is answered.
  var onGet: (@Sendable () async -> Void)? {
    get { beforeGet.withLock { $0 } }
    set { beforeGet.withLock { $0 = newValue } }
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    await onGet?()
    if refuses { throw GRPCStatus(code: .unavailable, message: "\(name) refuses") }
    return .with { $0.text = name }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    while true { try await responseStream.send(.with { $0.text = name }) }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse { .with { $0.text = name } }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {}
}

/// Several servers in this process, and channels to all of them.
struct Replicas {
  let providers: [Replica]
  let servers: [Server]
  let endpoints: [Endpoint]

  static func with(_ count: Int, _ body: (Replicas) async throws -> Void) async throws {
    let providers = (0..<count).map { Replica("replica \($0)") }
    try await withServers(providers.map { [$0] }) { servers, addresses async throws in
      let endpoints = addresses.map { Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: $0.port))]) }
      try await body(Replicas(providers: providers, servers: servers, endpoints: endpoints))
    }
  }

  /// Creates a client that knows all servers.
  func client(
    _ resolver: (any Resolver)? = nil,
    policy: String = "round_robin",
    config: String? = nil,
    _ change: (inout ChannelOptions) -> Void = { _ in }
  ) throws -> Echo_EchoClient {
    var options = ChannelOptions()
    options.security = .plaintext
    options.resolvers = [resolver ?? StaticResolver(endpoints)]
    options.serviceConfig = try ServiceConfig(
      json: config ?? #"{"loadBalancingConfig": [{"\#(policy)": {}}]}"#
    )
    change(&options)
    return Echo_EchoClient(channel: try Channel(target: "static:///echo.example", options: options))
  }

  func shutDown() async {
    for server in servers { await server.shutDown(grace: .zero) }
  }
}

extension Echo_EchoClient {
  /// Makes calls one after the other, and returns how many each server answers.
  func counts(_ calls: Int, _ options: CallOptions? = nil) async throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for _ in 0..<calls {
      counts[try await get(.with { $0.text = "who?" }, callOptions: options).text, default: 0] += 1
    }
    return counts
  }

  /// Returns once calls have reached this many servers.
  func warmUp(_ servers: Int) async throws {
    var seen: Set<String> = []
    while seen.count < servers { seen.formUnion(try await counts(1).keys) }
  }
}
