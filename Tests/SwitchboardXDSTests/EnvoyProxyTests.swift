import CertificateSupport
import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// Our servers behind Envoy as an ordinary proxy, which a control plane configures.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct EnvoyProxyTests {
  /// What a test has: servers, Envoy in front of them, and a client of Envoy.
  private struct Proxied {
    let servers: [Server]
    let proxy: EnvoyProxy
    let client: Echo_EchoClient
  }

  private static let extensions = "type.googleapis.com/envoy.extensions"

  /// Runs `body` with a cluster of these servers behind Envoy.
  private func withProxied<Value>(
    _ providers: [[any CallHandlerProvider]],
    options: ServerOptions = ServerOptions(),
    cluster: [String: Any] = [:],
    route: [String: Any] = [:],
    filters: [[String: Any]] = [],
    over wireProtocol: CallProtocol = .grpc,
    _ version: HTTPVersion = .negotiated,
    _ body: (Proxied) async throws -> Value
  ) async throws -> Value {
    let plane = try PlanePeer()
    let servers = try providers.map { try Server(providers: $0, options: options) }
    var channelOptions = ChannelOptions()
    channelOptions.security = .plaintext
    channelOptions.authority = "greeter"
    channelOptions.wireProtocol = wireProtocol
    channelOptions.httpVersion = version
    return try await withEnd(
      { for server in servers { await server.shutDown(grace: .zero) } },
      {
        let addresses = try servers.map { try $0.bind(host: "127.0.0.1", port: 0) }
        let more = route.merging(["timeout": "0s"]) { $1 }
        var mesh = Mesh("greeter", routes: [Mesh.route(to: "one", more: more)], clusters: [:])
        mesh.listeners = [
          Mesh.listener("greeter", routes: "routes-of-greeter", filters: filters + [Mesh.router])
        ]
        mesh.clusters = [Mesh.cluster("one", more: cluster)]
        mesh.endpoints = [Mesh.assignment("one", ports: addresses.compactMap(\.port).map { Int($0) })]
        try plane.set(mesh.withProxy)
        let proxy = try EnvoyProxy([plane])
        defer { proxy.stop() }
        let refusals = try plane.refusals()
        #expect(refusals == [])
        return try await withChannel(to: try proxy.address(), options: channelOptions) {
          channel async throws in
          let client = Echo_EchoClient(channel: channel)
          return try await body(Proxied(servers: servers, proxy: proxy, client: client))
        }
      }
    )
  }

  private func texts(_ responses: some AsyncSequence<Echo_EchoResponse, any Error>) async throws -> [String] {
    var texts: [String] = []
    for try await response in responses { texts.append(response.text) }
    return texts
  }

  private func requests(_ texts: String...) -> [Echo_EchoRequest] {
    texts.map { text in .with { $0.text = text } }
  }

  /// Calls of all kinds, with metadata, trailers, errors and large messages.
  private func expectAllKinds(_ client: Echo_EchoClient, bothWays: Bool = true) async throws {
    let large = String(repeating: "x", count: 1_000_000)
    #expect(try await client.get(.with { $0.text = large }).text == large)
    #expect(try await texts(client.expand(.with { $0.text = "a b c" })) == ["a", "b", "c"])
    #expect(try await client.collect(requests("a", "b")).text == "a b")
    if bothWays { #expect(try await texts(client.update(requests("a", "b"))) == ["a", "b"]) }
    let failure = await #expect(throws: GRPCStatus.self) { try await client.get(.with { $0.text = "fail" }) }
    #expect(failure?.code == .outOfRange && failure?.message == "100 % – no")
  }

  @Test func allKindsOfCalls() async throws {
    try await withProxied([[Particular()]]) { proxied async throws in
      try await expectAllKinds(proxied.client)
      let call = proxied.client.makeGetCall(.with { $0.text = "mark" }, callOptions: .with("mark", "1,2"))
      _ = try await call.response
      #expect(try await call.initialMetadata["mark"] == ["1,2"])
      #expect(try await call.trailingMetadata["mark-at-end"] == ["1,2"])
    }
  }

  private func inline(_ source: PEMSource) throws -> [String: String] {
    guard case .bytes(let bytes) = source else { throw Missing() }
    return ["inlineString": String(decoding: bytes, as: UTF8.self)]
  }

  private struct Missing: Error {}

  /// The server asks for a certificate of its clients, and Envoy for one of servers.
  @Test(arguments: [true, false]) func mutualTLS(_ hasCertificate: Bool) async throws {
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    options.logger = .quiet
    let certificate: [String: Any] = [
      "certificateChain": try inline(TestCertificates.clientCertificate),
      "privateKey": try inline(TestCertificates.clientKey),
    ]
    let name: [String: Any] = ["sanType": "DNS", "matcher": ["exact": "localhost"]]
    let common: [String: Any] = [
      "alpnProtocols": ["h2"], "tlsCertificates": hasCertificate ? [certificate] : [],
      "validationContext": [
        "trustedCa": try inline(TestCertificates.authority), "matchTypedSubjectAltNames": [name],
      ],
    ]
    let context: [String: Any] = [
      "@type": "\(Self.extensions).transport_sockets.tls.v3.UpstreamTlsContext", "commonTlsContext": common,
    ]
    let socket: [String: Any] = ["name": "envoy.transport_sockets.tls", "typedConfig": context]
    try await withProxied([[Particular()]], options: options, cluster: ["transportSocket": socket]) {
      proxied async throws in
      guard hasCertificate else {
        return #expect(try await proxied.client.answers(10) == ["UNAVAILABLE": 10])
      }
      try await expectAllKinds(proxied.client)
      // What the server knows of its client is Envoy's certificate.
      #expect(try await proxied.client.get(.with { $0.text = "peer" }).text == "CN=test client")
    }
  }

  /// Another attempt goes to another server.
  private static var elsewhere: [String: Any] {
    let type = "\(extensions).retry.host.previous_hosts.v3.PreviousHostsPredicate"
    let predicate: [String: Any] = [
      "name": "envoy.retry_host_predicates.previous_hosts", "typedConfig": ["@type": type],
    ]
    return [
      "retryPolicy": [
        "retryOn": "unavailable,connect-failure,refused-stream", "numRetries": 2,
        "retryHostPredicate": [predicate], "hostSelectionRetryMaxAttempts": "10",
        "retryBackOff": ["baseInterval": "0.001s"],
      ] as [String: Any]
    ]
  }

  private static var manyRepetitions: [String: Any] {
    ["circuitBreakers": ["thresholds": [["maxRetries": 1000]]]]
  }

  @Test func repetitions() async throws {
    try await withProxied(
      [[NamedEcho(name: "s0")], [Failing()]],
      cluster: Self.manyRepetitions,
      route: Self.elsewhere
    ) { proxied async throws in
      #expect(try await proxied.client.answers(1000, atOnce: 8) == ["s0": 1000])
    }
  }

  private static var healthChecks: [String: Any] {
    let check: [String: Any] = [
      "timeout": "60s", "interval": "0.02s", "noTrafficInterval": "0.02s", "unhealthyThreshold": 1,
      "healthyThreshold": 1, "grpcHealthCheck": ["serviceName": "echo.Echo"],
    ]
    return ["healthChecks": [check], "commonLbConfig": ["healthyPanicThreshold": ["value": 0]]]
  }

  /// Waits until these servers answer, and no others.
  private func wait(_ client: Echo_EchoClient, until names: Set<String>) async throws {
    while Set(try await client.answers(100).keys) != names { try Task.checkCancellation() }
  }

  @Test func aServerThatIsNotServingGetsNoCalls() async throws {
    let healths = [HealthService(), HealthService()]
    for health in healths { health.set(.serving, for: "echo.Echo") }
    try await withProxied(
      [[NamedEcho(name: "s0"), healths[0]], [NamedEcho(name: "s1"), healths[1]]],
      cluster: Self.healthChecks
    ) { proxied async throws in
      let client = proxied.client
      for _ in 0..<2 {
        try await wait(client, until: ["s0", "s1"])
        healths[1].set(.notServing, for: "echo.Echo")
        try await wait(client, until: ["s0"])
        #expect(try await client.answers(1000, atOnce: 8) == ["s0": 1000])
        healths[1].set(.serving, for: "echo.Echo")
      }
    }
  }

  /// Makes calls while `body` runs, and expects all to succeed.
  private func withCallers(_ client: Echo_EchoClient, _ body: () async throws -> Void) async throws {
    let caller = Caller(client)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 { group.addTask { await caller.run() } }
      do { try await body() } catch { Issue.record(error) }
      caller.stop()
    }
    #expect(caller.made > 0)
    #expect(caller.lost == nil)
  }

  /// A server ends gracefully: with checks, first it says that it is not serving; without, it ends at once, and calls for which Envoy
  /// finds it gone are made elsewhere. A call that it has goes on to its end.
  @Test(arguments: [true, false]) func aServerEndsWithoutALostCall(_ isChecked: Bool) async throws {
    let health = HealthService()
    health.set(.serving, for: "echo.Echo")
    let other = HealthService()
    other.set(.serving, for: "echo.Echo")
    try await withProxied(
      [[NamedEcho(name: "s0"), health], [NamedEcho(name: "s1"), other]],
      cluster: isChecked ? Self.healthChecks : Self.manyRepetitions,
      route: isChecked ? [:] : Self.elsewhere
    ) { proxied async throws in
      let client = proxied.client
      // Both have one, because it is their turn.
      let calls = [client.makeUpdateCall(), client.makeUpdateCall()]
      var replies = calls.map { $0.responseStream.makeAsyncIterator() }
      for (number, call) in calls.enumerated() {
        try await call.requestStream.send(.with { $0.text = "before" })
        #expect(try await replies[number].next()?.text == "before")
      }
      try await withCallers(client) {
        try await wait(client, until: ["s0", "s1"])
        if isChecked {
          health.set(.notServing, for: "echo.Echo")
          try await wait(client, until: ["s1"])
        }
        async let end: Void = proxied.servers[0].shutDown(grace: .seconds(200))
        try await wait(client, until: ["s1"])
        #expect(try await client.answers(1000, atOnce: 8) == ["s1": 1000])
        for (number, call) in calls.enumerated() {
          try await call.requestStream.send(.with { $0.text = "after" })
          #expect(try await replies[number].next()?.text == "after")
          call.requestStream.finish()
          #expect(try await replies[number].next() == nil)
        }
        await end
      }
    }
  }

  /// Envoy speaks gRPC-Web with the client and gRPC with the server.
  @Test(arguments: [HTTPVersion.http1, .negotiated]) func gRPCWeb(_ version: HTTPVersion) async throws {
    let filter: [String: Any] = [
      "name": "web", "typedConfig": ["@type": "\(Self.extensions).filters.http.grpc_web.v3.GrpcWeb"],
    ]
    try await withProxied([[Particular()]], filters: [filter], over: .grpcWeb, version) {
      proxied async throws in
      try await expectAllKinds(proxied.client, bothWays: version != .http1)
      // Our servers speak gRPC-Web too: it is Envoy that has translated.
      #expect(
        try proxied.proxy.ask("/stats?filter=grpc-web").contains("grpc-web.echo.Echo.Expand.success: 1\n")
      )
    }
  }

  private func curl(_ arguments: String...) throws -> String {
    try ChildProcess("/usr/bin/curl", ["-s", "-w", "\n%{http_code}", "--max-time", "60"] + arguments)
      .allOutput()
  }

  /// Envoy speaks JSON with the client and gRPC with the server.
  @Test func transcodedJSON() async throws {
    let descriptors = try temporaryFile([], suffix: "binpb")
    let echo = TestFolders.root.appending(path: "Protos/echo").path
    let words = ["-m", "grpc_tools.protoc", "-I\(echo)", "--descriptor_set_out=\(descriptors)", "echo.proto"]
    #expect(try Command.run(TestFolders.python, words).exitCode == 0)
    let filter: [String: Any] = [
      "name": "json",
      "typedConfig": [
        "@type": "\(Self.extensions).filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder",
        "protoDescriptorBin": try Data(contentsOf: URL(filePath: descriptors)).base64EncodedString(),
        "services": ["echo.Echo"], "autoMapping": true, "convertGrpcStatus": true,
      ],
    ]
    try await withProxied([[Particular()]], filters: [filter]) { proxied async throws in
      let url = "http://\(try proxied.proxy.address())/echo.Echo"
      let words = ["-H", "host: greeter", "-H", "content-type: application/json", "-d"]
      func post(_ path: String, _ body: String) throws -> String {
        try curl(words[0], words[1], words[2], words[3], words[4], body, "\(url)/\(path)")
      }
      #expect(try post("Get", #"{"text":"aé"}"#) == "{\"text\":\"aé\"}\n200")
      #expect(try post("Expand", #"{"text":"a b"}"#) == #"[{"text":"a"},{"text":"b"}]"# + "\n200")
      #expect(try post("Collect", #"[{"text":"a"},{"text":"b"}]"#) == "{\"text\":\"a b\"}\n200")
      #expect(try post("Get", #"{"text":"fail"}"#) == "{\"code\":11,\"message\":\"100 % – no\"}\n400")
      #expect(try post("Get", #"{"text":5}"#).hasSuffix("400"))
      // gRPC passes nevertheless.
      try await expectAllKinds(proxied.client)
    }
  }
}

extension CallOptions {
  fileprivate static func with(_ name: String, _ value: String) -> CallOptions {
    var options = CallOptions()
    options.initialMetadata.add(name: name, value: value)
    return options
  }
}

/// Does something particular for some texts.
private struct Particular: EchoingProvider {
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    switch request.text {
    case "fail": throw GRPCStatus(code: .outOfRange, message: "100 % – no")
    case "peer": return .with { $0.text = context.peer.certificate?.subject ?? "" }
    case "mark":
      let mark = context.headers.first(name: "mark") ?? ""
      context.setInitialMetadata(["mark": mark])
      context.setTrailers(["mark-at-end": mark])
      return .with { $0.text = mark }
    default: return .with { $0.text = request.text }
    }
  }
}
