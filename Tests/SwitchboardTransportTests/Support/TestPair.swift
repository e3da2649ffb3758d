import CertificateSupport
import Glibc
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// The connections that the same suite runs over.
enum Wire: CaseIterable {
  case ipv4, ipv6, unix, unixAbstract, tls, inProcess
}

/// A server and a channel to it, each on its own loop.
struct TestPair {
  let service: TestService
  let server: Server
  let channel: Channel
  let address: SocketAddress

  static func with<Value>(
    _ wire: Wire = .ipv4,
    server serverOptions: ServerOptions = ServerOptions(),
    channel channelOptions: ChannelOptions = ChannelOptions(),
    serverGroup: LoopGroup? = nil,
    _ body: (TestPair) async throws -> Value
  ) async throws -> Value {
    var serverOptions = serverOptions
    var channelOptions = channelOptions
    if wire == .tls {
      serverOptions.tls = serverOptions.tls ?? ServerTLS(credentials: TestCertificates.server)
      if channelOptions.security == .automatic {
        channelOptions.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
      }
    }
    let service = TestService()
    let server = try Server(providers: [service], options: serverOptions, group: serverGroup)
    let address = try bind(server, wire)
    let channel =
      wire == .inProcess
      ? try Channel(inProcess: [service], options: serverOptions, channelOptions: channelOptions)
      : try Channel(target: "\(address)", options: channelOptions)
    let pair = TestPair(service: service, server: server, channel: channel, address: address)
    let result: Result<Value, any Error>
    do { result = .success(try await body(pair)) } catch { result = .failure(error) }
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
    return try result.get()
  }

  private static func bind(_ server: Server, _ wire: Wire) throws -> SocketAddress {
    switch wire {
    case .ipv4, .tls, .inProcess: try server.bind(host: "127.0.0.1", port: 0)
    case .ipv6: try server.bind(host: "::1", port: 0)
    case .unix:
      try server.bind(unixPath: "/tmp/switchboard-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).sock")
    case .unixAbstract:
      try server.bind(unixAbstractName: "switchboard-\(getpid())-\(UInt64.random(in: 0...UInt64.max))")
    }
  }

  var caller: Caller { Caller(channel: channel) }

  func get(
    _ method: MethodDescriptor = TestService.get,
    _ request: [UInt8] = [1, 2, 3],
    options: CallOptions? = nil
  ) async throws -> [UInt8] {
    try await caller.get(method, request, options: options)
  }

  func expand(_ method: MethodDescriptor, _ request: [UInt8]) -> ResponseStream<[UInt8]> {
    caller.expand(method, request)
  }

  func collect(_ method: MethodDescriptor, _ requests: [[UInt8]]) async throws -> [UInt8] {
    try await caller.collect(method, requests)
  }

  func update(_ requests: [[UInt8]]) -> ResponseStream<[UInt8]> { caller.update(requests) }
}

extension AsyncSequence {
  func collected() async throws -> [Element] {
    var all: [Element] = []
    for try await element in self { all.append(element) }
    return all
  }
}
