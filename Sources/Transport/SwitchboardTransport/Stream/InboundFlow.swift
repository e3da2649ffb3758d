import SwitchboardCall
import Synchronization

/// Lets the peer send more as messages are read. While the pipe is full, or messages wait outside it, bytes that arrive
/// are withheld from the stream's window.
final class InboundFlow: Sendable {
  let pipe: MessagePipe
  private let withheld = Atomic(0)
  private let holding = Atomic(false)
  private let inflated = Atomic(false)

  init(_ pipe: MessagePipe) {
    self.pipe = pipe
  }

  /// Returns how many of the bytes that have just arrived the peer may send again at once.
  func credit(forArrived byteCount: Int) -> Int {
    if hasRoom { return byteCount }
    withheld.wrappingAdd(byteCount, ordering: .sequentiallyConsistent)
    // The reader may have emptied the pipe between the two steps, before anything was withheld.
    return hasRoom ? takeWithheld() : 0
  }

  /// Whether messages or bytes wait that are not in the pipe yet. Set on the loop.
  var isHolding: Bool {
    get { holding.load(ordering: .sequentiallyConsistent) }
    set { holding.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Whether messages in the pipe count as decompressed ones of the connection. Set on the loop, before they are in the
  /// pipe.
  var isInflated: Bool {
    get { inflated.load(ordering: .sequentiallyConsistent) }
    set { inflated.store(newValue, ordering: .sequentiallyConsistent) }
  }

  private var hasRoom: Bool { !isHolding && pipe.hasRoom }

  func takeWithheld() -> Int {
    withheld.exchange(0, ordering: .sequentiallyConsistent)
  }

  /// Whether a read that left this much room has made some for withheld bytes, or for a good part of the held ones.
  func owesCredit(_ room: MessagePipe.Room) -> Bool {
    if room == .much, isHolding || isInflated { return true }
    return !isHolding && room != .none && withheld.load(ordering: .sequentiallyConsistent) > 0
  }
}
