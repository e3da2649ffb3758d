import SwitchboardCall
import Synchronization

/// Some event loops, used in turn.
///
/// Make one for the process and share it between all servers and channels, or let each make its own. A loop handles a
/// few hundred thousand small calls a second, so a client rarely needs more than one.
///
/// A loop packs what its connections keep while they are idle, but for OpenSSL's part only if the application allows it:
/// see `TLSMemory`.
///
/// ```swift
/// let group = try LoopGroup(count: 2)
/// let server = try Server(providers: [ShopProvider()], group: group)
/// let channel = try Channel(target: "greeter.example:443", group: group)
/// ```
public final class LoopGroup: Sendable {
  /// The loops, each on its own thread.
  package let loops: [Loop]
  private let turns = Atomic(0)

  /// More threads than any machine has processors would only take its memory.
  private static let mostLoops = 1024

  /// Starts `count` loops, from 1 to 1024.
  public init(count: Int = 1) throws(GRPCStatus) {
    let range = OptionRange.within(1...Self.mostLoops)
    try range.check(count, "count", because: "each loop has its own thread")
    var started: [Loop] = []
    for _ in 0..<count {
      guard let loop = Loop(), DetachedThread.start({ loop.run() }) else {
        for loop in started { loop.stop() }
        throw .noLoop
      }
      started.append(loop)
    }
    loops = started
  }

  deinit { shutDown() }

  /// The next loop in turn.
  package func nextLoop() -> Loop {
    let index = turns.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
  }

  /// Ends each thread as soon as nothing is open on it: no connection, no listener, no call that waits for a
  /// connection, no sleeping task. This closes nothing, so servers and channels continue until they are shut down; but
  /// calls on an idle channel then fail with `UNAVAILABLE`, and servers cannot be bound to further addresses.
  ///
  /// Releasing the group has the same effect; servers and channels keep references to theirs.
  public func shutDown() {
    for loop in loops { loop.stop() }
  }
}

extension LoopGroup {
  @available(*, unavailable, message: "give the group itself: a channel or a server takes one of its loops")
  public func next() -> any EventLoop { nextLoop() }
}

extension GRPCStatus {
  fileprivate static let noLoop = GRPCStatus(
    code: .resourceExhausted,
    message: "the system has no resources for another event loop",
    origin: .library
  )
}
