import Glibc
import SwitchboardBalancing
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Connections whose input a test provides on their loop, so that nothing else happens in between.
enum FedConnection {
  /// A socket; the caller closes its other end.
  private static func socket(on loop: Loop) -> (socket: Socket, other: Int32)? {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
    else {
      return nil
    }
    _ = fcntl(pair[1], F_SETFL, fcntl(pair[1], F_GETFL) | O_NONBLOCK)
    guard let socket = Socket.adopt(pair[1], .unix(path: ""), on: loop) else {
      close(pair[0])
      return nil
    }
    return (socket, pair[0])
  }

  /// A server's connection that has read the client preface. Call on the loop.
  static func withServer<Result>(
    _ core: ServerCore,
    on loop: Loop,
    _ body: (ServerConnection) throws -> Result
  ) rethrows -> Result? {
    guard let (socket, other) = socket(on: loop) else { return nil }
    defer { Glibc.close(other) }
    guard let connection = ServerConnection(core, loop: loop, socket: socket, peer: nil) else { return nil }
    loop.allowAllWork()
    connection.start()
    connection.feed(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
    defer { connection.close(.connectionLost) }
    return try body(connection)
  }

  /// A channel's connection, which its calls use. Call on the loop.
  static func withClient<Result>(
    _ channel: HTTP2ClientTransport,
    _ body: (ClientConnection) throws -> Result
  ) rethrows -> Result? {
    guard let (socket, other) = socket(on: channel.loop) else { return nil }
    defer { Glibc.close(other) }
    guard let connection = channel.adopt(socket) else { return nil }
    channel.loop.allowAllWork()
    if connection.http1 == nil { connection.feed([0, 0, 0, 4, 0, 0, 0, 0, 0]) }
    defer { connection.close(.connectionLost) }
    return try body(connection)
  }
}

extension Loop {
  /// Lets everything be done at once, however long the test takes.
  func allowAllWork() { work.begin(until: .max) }
}

extension Connection {
  /// Delivers bytes as if the peer had sent them.
  func feed(_ bytes: [UInt8]) { bytes.withUnsafeBytes { socketDidRead($0) } }
}

extension HTTP2ClientTransport {
  /// Makes a connection of a socket, as if the channel had connected it. Call on the loop.
  func adopt(_ socket: Socket) -> ClientConnection? {
    balancer.leaveIdle()
    balancer.received(ResolverResult(endpoints: [Endpoint([.unix(path: "/nowhere/at/all")])]))
    guard let subchannel = subchannels.values.first else { return nil }
    subchannel.finishDialing()
    subchannel.adopt(subchannel.startDialing(), socket, nil)
    return subchannel.connections.last
  }
}
