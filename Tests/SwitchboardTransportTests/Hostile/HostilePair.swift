import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A server with one well-behaved client, for tests that add a hostile one. Whatever that does, a bystander on the server's
/// loop does not wait for long.
struct HostilePair {
  let pair: TestPair
  let abuses: AbuseRecorder
  /// The server's loop.
  let loop: Loop

  static func with(
    _ wire: Wire = .ipv4,
    _ options: ServerOptions = ServerOptions(),
    _ body: (HostilePair) async throws -> Void
  ) async throws {
    let waits = try await Bystander.trying { try await measured(wire, options, body) }
    #expect(waits.areShort, "\(waits)")
  }

  /// How long the bystander waits while `body` runs.
  private static func measured(
    _ wire: Wire,
    _ options: ServerOptions,
    _ body: (HostilePair) async throws -> Void
  ) async throws -> Bystander.Waits {
    var options = options
    let abuses = AbuseRecorder()
    options.observer = abuses
    let group = try LoopGroup()
    return try await TestPair.with(wire, server: options, serverGroup: group) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
      let waits = try await Bystander.with(group) { bystander async throws in
        try await bystander.waits {
          try await body(HostilePair(pair: pair, abuses: abuses, loop: group.loops[0]))
        }
      }
      // Whatever happened on one connection, others still work.
      #expect(try await pair.get() == [1, 2, 3])
      return waits
    }
  }

  func connect() throws -> FramePeer { try FramePeer(pair.address) }

  /// Makes calls while `body` does something to the server.
  func serveOthers(
    while attacker: RawPeer,
    _ attack: @escaping @Sendable (RawPeer) -> Void
  ) async throws {
    let attacking = MayBlock.task { attack(attacker) }
    for _ in 0..<20 { #expect(try await pair.get() == [1, 2, 3]) }
    await attacking.value
  }
}
