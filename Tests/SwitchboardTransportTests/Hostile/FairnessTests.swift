import CallTestSupport
import Dispatch
import Glibc
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Whatever one connection sends, the calls of another on the same loop are served after at most a small share of it.
///
/// The server's loop is blocked until the attack and then a call have arrived. The call must reach its handler while
/// the system still buffers the rest of the attack, so the test depends on no clock.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FairnessTests {
  private typealias Kind = FramePeer.Kind

  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    var opening: [UInt8] = []
    let often: [UInt8]
    var testDescription: String { name }

    /// More than a share, and at most what the system buffers for a connection that is not read.
    var bytes: [UInt8] {
      var all = opening
      while all.count < 48 * 1024 { all += often }
      return all
    }
  }

  private static let attacks: [Attack] = [
    Attack(name: "settings", often: FramePeer.frame(Kind.settings, 0, 0, [])),
    Attack(name: "pings", often: FramePeer.frame(Kind.ping, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])),
    Attack(name: "priorities", often: FramePeer.frame(Kind.priority, 0, 3, [0, 0, 0, 0, 15])),
    Attack(name: "windows", often: FramePeer.frame(Kind.windowUpdate, 0, 0, [0, 0, 0, 1])),
    Attack(
      name: "empty data",
      opening: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Deaf"))),
      often: FramePeer.frame(Kind.data, 0, 1, [])
    ),
    Attack(
      name: "a byte a frame",
      opening: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Deaf"))),
      often: FramePeer.frame(Kind.data, 0, 1, [0])
    ),
    Attack(
      name: "continuations",
      opening: FramePeer.frame(Kind.headers, 0, 1, FramePeer.block(FramePeer.call("Get"))),
      often: FramePeer.frame(Kind.continuation, 0, 1, [])
    ),
    Attack(
      name: "a bomb of headers",
      often: FramePeer.frame(Kind.headers, 5, 1, HeaderAttackTests.bomb(FramePeer.call("Get"), count: 10_000))
    ),
    Attack(
      name: "calls that are none",
      often: FramePeer.frame(Kind.headers, 5, 1, FramePeer.block([(":method", "GET"), (":path", "/")]))
    ),
    Attack(
      name: "calls",
      opening: (0..<500).flatMap(call),
      often: FramePeer.frame(Kind.ping, 0, 0, .init(repeating: 0, count: 8))
    ),
    Attack(name: "garbage", often: [0xff, 0xfe, 0xfd]),
  ]

  private static func call(_ number: Int) -> [UInt8] {
    let id = UInt32(2 * number + 1)
    return FramePeer.frame(Kind.headers, 4, id, FramePeer.block(FramePeer.call("Reflect")))
      + FramePeer.frame(Kind.data, 1, id, [0, 0, 0, 0, 0])
  }

  @Test(arguments: attacks) func aCallIsServedDuringAnAttack(_ attack: Attack) async throws {
    let observer = CallWatch()
    var options = ServerOptions()
    options.observer = observer
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let server = pair.server.core
      let caller = try FramePeer(pair.address)
      settle(caller)
      let called = try #require(server.connections.first?.socket.descriptor)
      let attacker = try FramePeer(pair.address)
      settle(attacker)
      let attacked = try #require(server.connections.compactMap(\.socket.descriptor).first { $0 != called })
      observer.watch(attacked)

      let (held, hold) = (Signal(), DispatchSemaphore(value: 0))
      loop.execute {
        held.fire()
        hold.wait()
      }
      await held.wait()
      let bytes = attack.bytes
      attacker.raw.send(bytes)
      while !Task.isCancelled, Self.waiting(attacked) < bytes.count { await Task.yield() }
      let call =
        FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Get")))
        + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 1, 7])
      caller.raw.send(call)
      while !Task.isCancelled, Self.waiting(called) < call.count { await Task.yield() }
      hold.signal()

      #expect(caller.next(Kind.data)?.payload == [0, 0, 0, 0, 1, 7])
      let taken = bytes.count - (try #require(observer.unreadAtCall))
      #expect(taken <= ReadShare.first)
    }
  }

  /// A reader that is behind has much to read at once. The loop's other work comes in between.
  @Test func theBacklogOfASlowReaderLeavesTimeForOthers() async throws {
    let reader = SlowReader()
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await withServer([reader], group: group) { _, address async throws in
      let peer = try FramePeer(address)
      settle(peer)
      peer.send(Kind.headers, 4, 1, FramePeer.block(FramePeer.request("/slow/Count")))
      let count = 13_000
      let messages = [UInt8](repeating: 0, count: 5 * count)
      for start in stride(from: 0, to: messages.count, by: 13_000) {
        let piece = messages[start..<min(start + 13_000, messages.count)]
        peer.send(Kind.data, start + 13_000 >= messages.count ? 1 : 0, 1, Array(piece))
      }
      settle(peer)
      let read = await withCheckedContinuation { continuation in
        loop.execute {
          reader.released.fire()
          loop.execute { continuation.resume(returning: reader.count.load(ordering: .relaxed)) }
        }
      }
      #expect(read < count / 2)
      #expect(peer.next(Kind.data)?.payload.suffix(2) == [UInt8(count >> 8), UInt8(count & 255)])
    }
  }

  /// Reads once it is released, and responds with the number of bytes.
  private final class SlowReader: CallHandlerProvider {
    static let name = "slow"
    let released = Signal()
    let count = Atomic(0)

    var serviceName: String { Self.name }

    var methodHandlers: [MethodHandler] {
      let method = MethodDescriptor(service: Self.name, method: "Count", type: .clientStreaming)
      return [
        method.bytes.clientStreamingHandler { [self] requests, _ in
          await released.wait()
          for try await _ in requests { count.add(1, ordering: .relaxed) }
          let all = count.load(ordering: .relaxed)
          return [UInt8(truncatingIfNeeded: all >> 8), UInt8(truncatingIfNeeded: all)]
        }
      ]
    }
  }

  /// Waits until the server has processed all that was sent and the peer has read the responses.
  private func settle(_ peer: FramePeer) {
    peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(peer.next(Kind.ping) != nil)
  }

  /// The number of bytes in the system's buffer of a socket.
  static func waiting(_ descriptor: Int32) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }

  /// Checks the other connection when the call starts.
  private final class CallWatch: CallObserver {
    private let state = Locked<(descriptor: Int32?, left: Int?)>((nil, nil))

    var unreadAtCall: Int? { state.withLock { $0.left } }

    func watch(_ descriptor: Int32) { state.withLock { $0 = (descriptor, nil) } }

    func callStarted(_ call: ObservedCall) -> (any Sendable)? {
      guard call.method.path == TestService.get.path else { return nil }
      state.withLock { state in
        if let descriptor = state.descriptor { state.left = FairnessTests.waiting(descriptor) }
      }
      return nil
    }
  }
}
