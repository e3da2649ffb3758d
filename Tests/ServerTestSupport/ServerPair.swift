import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// A server and a channel to it, each on its own loop.
package struct ServerPair: Sendable {
  package let server: Server
  package let address: SocketAddress
  package let channel: Channel
}

// Each of these closes what it opens, whether or not `body` throws.

/// Runs `body` with a server that listens.
package func withServer<Value>(
  _ providers: [any CallHandlerProvider],
  at wire: Wire = .ipv4,
  options: ServerOptions = ServerOptions(),
  group: LoopGroup? = nil,
  _ body: (Server, SocketAddress) async throws -> Value
) async throws -> Value {
  let server = try Server(providers: providers, options: wire.secured(options), group: group)
  return try await withEnd(
    { await server.shutDown(grace: .zero) },
    { try await body(server, try wire.bind(server)) }
  )
}

/// Runs `body` with servers that listen, one for each list of providers.
package func withServers<Value>(
  _ providers: [[any CallHandlerProvider]],
  _ body: ([Server], [SocketAddress]) async throws -> Value
) async throws -> Value {
  let servers = try providers.map { try Server(providers: $0) }
  return try await withEnd(
    { for server in servers { await server.shutDown(grace: .zero) } },
    { try await body(servers, try servers.map { try Wire.ipv4.bind($0) }) }
  )
}

/// Runs `body` with a channel to a target.
package func withChannel<Value>(
  to target: String,
  options: ChannelOptions = ChannelOptions(),
  group: LoopGroup? = nil,
  _ body: (Channel) async throws -> Value
) async throws -> Value {
  try await withChannel(try Channel(target: target, options: options, group: group), body)
}

/// Runs `body` with a server and a channel to it, which leads to the providers themselves if it is within the process.
package func withPair<Value>(
  _ providers: [any CallHandlerProvider],
  over wire: Wire = .ipv4,
  options: ServerOptions = ServerOptions(),
  channel channelOptions: ChannelOptions = ChannelOptions(),
  group: LoopGroup? = nil,
  _ body: (ServerPair) async throws -> Value
) async throws -> Value {
  try await withServer(providers, at: wire, options: options, group: group) { server, address async throws in
    let channel =
      wire == .inProcess
      ? try Channel(inProcess: providers, options: options, channelOptions: channelOptions, group: group)
      : try Channel(target: "\(address)", options: wire.secured(channelOptions))
    return try await withChannel(channel) { channel async throws in
      try await body(ServerPair(server: server, address: address, channel: channel))
    }
  }
}

/// The same for tests that use only the channel.
package func withChannel<Value>(
  to providers: [any CallHandlerProvider],
  over wire: Wire = .ipv4,
  options: ServerOptions = ServerOptions(),
  channel: ChannelOptions = ChannelOptions(),
  _ body: (Channel) async throws -> Value
) async throws -> Value {
  try await withPair(providers, over: wire, options: options, channel: channel) { pair async throws in
    try await body(pair.channel)
  }
}

/// Runs `body` with a channel that the test has made.
package func withChannel<Value>(
  _ channel: Channel,
  _ body: (Channel) async throws -> Value
) async throws -> Value {
  try await withEnd({ await channel.shutDown(grace: .zero) }, { try await body(channel) })
}

/// Runs `body` with a pool that the test has made.
package func withPool<Value>(
  _ pool: ChannelPool,
  _ body: (ChannelPool) async throws -> Value
) async throws -> Value {
  try await withEnd({ await pool.shutDown(grace: .zero) }, { try await body(pool) })
}

/// Runs `body` and, whatever becomes of it, `end`.
package func withEnd<Value>(
  _ end: () async -> Void,
  _ body: () async throws -> Value
) async throws -> Value {
  let result: Result<Value, any Error>
  do { result = .success(try await body()) } catch { result = .failure(error) }
  await end()
  return try result.get()
}
