import Glibc
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// How long the system waits for a peer to acknowledge data, as the system has it (gRFC A18).
@Suite(.timeLimit(.minutes(5))) struct UserTimeoutTests {
  private static func milliseconds(_ socket: Socket) -> Int32? {
    guard let descriptor = socket.descriptor else { return nil }
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &size) == 0 else { return nil }
    return value
  }

  private func timeouts(
    _ wire: Wire,
    _ serverOptions: ServerOptions,
    _ options: ChannelOptions
  ) async throws -> (server: Int32?, client: Int32?) {
    let found = Locked<(Int32?, Int32?)>((nil, nil))
    try await TestPair.with(wire, server: serverOptions, channel: options) { pair in
      _ = try await pair.get()
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      let client = await transport.loop.onLoop {
        transport.connections.first.flatMap { Self.milliseconds($0.socket) }
      }
      let core = pair.server.core
      let server = await core.group.loops[0].onLoop {
        core.connections.first.flatMap { Self.milliseconds($0.socket) }
      }
      found.withLock { $0 = (server, client) }
    }
    return found.withLock { $0 }
  }

  @Test(arguments: [Wire.ipv4, .ipv6, .tls]) func theUserTimeoutIsTheKeepaliveTimeout(_ wire: Wire)
    async throws
  {
    var serverOptions = ServerOptions()
    serverOptions.keepaliveTimeout = .milliseconds(12_345)
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(3600)
    options.keepaliveTimeout = .milliseconds(6_789)
    let (server, client) = try await timeouts(wire, serverOptions, options)
    #expect(server == 12_345)
    #expect(client == 6_789)
  }

  @Test func aChannelWithoutKeepaliveUsesTheSystemsTimeout() async throws {
    let (server, client) = try await timeouts(.ipv4, ServerOptions(), ChannelOptions())
    #expect(server == 20_000)
    #expect(client == 0)
  }

  @Test func unixSocketsHaveNoUserTimeout() async throws {
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(3600)
    let (server, client) = try await timeouts(.unix, ServerOptions(), options)
    #expect(server == nil)
    #expect(client == nil)
  }

  @Test(arguments: [
    (Duration.zero, Int32(1)), (.seconds(-1), 1), (.microseconds(1), 1), (.seconds(Int64.max), .max),
  ])
  func extremeTimeoutsAreClamped(_ sample: (set: Duration, milliseconds: Int32)) async throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let group = try LoopGroup()
    let loop = group.loops[0]
    let found: Int32? = await loop.onLoop {
      guard let socket = Socket.adopt(descriptor, .ip(isV6: false), on: loop) else { return nil }
      defer { socket.close() }
      socket.setUserTimeout(sample.set)
      return Self.milliseconds(socket)
    }
    #expect(found == sample.milliseconds)
  }
}
