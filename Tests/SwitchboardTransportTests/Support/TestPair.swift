import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

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
    let service = TestService()
    return try await withPair(
      [service],
      over: wire,
      options: serverOptions,
      channel: channelOptions,
      group: serverGroup
    ) { pair async throws in
      try await body(
        TestPair(service: service, server: pair.server, channel: pair.channel, address: pair.address)
      )
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
