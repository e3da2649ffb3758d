import SwitchboardCall
import Synchronization

/// Some event loops, handed out in turn.
///
/// Make one for a process and give it to every server and channel in it, or let each make its own. A loop
/// carries a few hundred thousand small calls a second, so a client rarely wants more than one.
public final class LoopGroup: Sendable {
  /// The loops, each on a thread of its own.
  public let loops: [Loop]
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
  public func nextLoop() -> Loop {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
  }

  /// Lets each thread end once the servers and channels on it are closed. Releasing the group does it too.
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
