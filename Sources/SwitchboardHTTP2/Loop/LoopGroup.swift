import SwitchboardCall
import Synchronization

/// Some event loops, handed out in turn.
///
/// Make one for a process and give it to every server and channel in it, or let each make its own. A loop
/// carries a few hundred thousand small calls a second, so a client rarely wants more than one.
public final class LoopGroup: Sendable {
  /// The loops, each on a thread of its own.
  package let loops: [Loop]
  private let next = Atomic(0)

  /// Starts `count` threads.
  public init(count: Int = 1) throws(GRPCStatus) {
    var started: [Loop] = []
    for _ in 0..<max(1, count) {
      guard let loop = Loop(), LoopThread.start(loop) else {
        for loop in started { loop.stop() }
        throw .noLoop
      }
      started.append(loop)
    }
    loops = started
  }

  deinit { shutDown() }

  /// The loop whose turn it is.
  package func nextLoop() -> Loop {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
  }

  /// Lets each thread end as soon as nothing is open on it: no connection, no listener, no call that waits for a
  /// connection, nobody who sleeps. Nothing is closed for that, so what servers and channels do goes on until they are shut
  /// down; the calls of a channel that was idle then fail with `UNAVAILABLE`, and a server can be bound no more.
  ///
  /// Releasing the group does the same; but servers and channels keep theirs.
  public func shutDown() {
    for loop in loops { loop.stop() }
  }
}

extension GRPCStatus {
  fileprivate static let noLoop = GRPCStatus(
    code: .resourceExhausted,
    message: "the system has nothing left to run an event loop with",
    origin: .library
  )
}
