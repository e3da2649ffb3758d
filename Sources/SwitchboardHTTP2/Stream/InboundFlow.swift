import SwitchboardCall
import Synchronization

/// Lets the peer send more as messages are read: while the pipe is full, or more waits outside of it, what arrives is held
/// against the stream's window.
final class InboundFlow: Sendable {
  let pipe: MessagePipe
  private let withheld = Atomic(0)
  private let holding = Atomic(false)

  init(_ pipe: MessagePipe) {
    self.pipe = pipe
  }

  /// How much of what has just arrived the peer may send again at once.
  func credit(forArrived byteCount: Int) -> Int {
    if hasRoom { return byteCount }
    withheld.wrappingAdd(byteCount, ordering: .sequentiallyConsistent)
    // The reader may have emptied the pipe between the two, and seen nothing withheld.
    return hasRoom ? takeWithheld() : 0
  }

  /// Messages or bytes wait that are not in the pipe yet. Set on the loop.
  var isHolding: Bool {
    get { holding.load(ordering: .sequentiallyConsistent) }
    set { holding.store(newValue, ordering: .sequentiallyConsistent) }
  }

  private var hasRoom: Bool { !isHolding && pipe.hasRoom }

  func takeWithheld() -> Int {
    withheld.exchange(0, ordering: .sequentiallyConsistent)
  }

  /// Whether a read has made room for what is withheld, or for a good part of what is held.
  var owesCredit: Bool {
    if isHolding { return pipe.hasMuchRoom }
    return withheld.load(ordering: .sequentiallyConsistent) > 0 && pipe.hasRoom
  }
}
