import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// However many requests clients pipeline, the calls of another connection on the loop wait for a few of them only.
@Suite(.timeLimit(.minutes(5))) struct PipelineFairnessTests {
  /// Two clients pipeline without end, next to one that makes one call after the other. All are on the server's loop.
  @Test(arguments: [0, 5000]) func callsWaitForFewRequestsOfOthers(_ size: Int) async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let server = try Server(providers: [TestService()], options: HTTP1Tests.options, group: group)
    let core = server.core
    let served = await withCheckedContinuation { continuation in
      loop.execute { Self.attack(core, on: loop, size) { continuation.resume(returning: $0) } }
    }
    await server.shutDown(grace: .zero)
    #expect(served.count == Self.calls)
    // A call takes two turns of the loop: the client and the server have one each.
    let most = served.dropFirst().max() ?? .max
    #expect(most <= 3 * 2 * Self.servedInTurn)
    // Nobody is kept from being served.
    #expect(served.reduce(0, +) >= Self.calls)
  }

  private static let calls = 100
  /// As in `HTTP1Session`, and one that is not held.
  private static let servedInTurn = 17

  /// Passes how many requests of the attackers were served before each call of the client was answered.
  private static func attack(
    _ core: ServerCore,
    on loop: Loop,
    _ size: Int,
    _ finish: @escaping ([Int]) -> Void
  ) {
    // What is counted does not depend on how fast the machine is.
    loop.work.limit = 1_000_000_000
    let request = request(size)
    let attackers = (0..<2).compactMap { _ in LoopClient(core, on: loop) { _, _ in } }
    for attacker in attackers { attacker.flood(Array(repeatElement(request, count: 20).joined())) }
    var (counts, last) = ([Int](), 0)
    let caller = LoopClient(core, on: loop) { caller, _ in
      let all = attackers.reduce(0) { $0 + $1.connection.counters.streamsStarted }
      counts.append(all - last)
      last = all
      guard counts.count == calls else { return caller.send(Self.request(0)) }
      for client in attackers + [caller] { client.close() }
      finish(counts)
    }
    caller?.send(Self.request(0))
  }

  private static func request(_ size: Int) -> [UInt8] {
    let body = WebMessages.frame([UInt8](repeating: 7, count: size))
    return Array(HTTP1Peer.head("Get", "", ["content-length: \(body.count)"]).utf8) + body
  }
}
