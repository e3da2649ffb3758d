import SwitchboardCall
import Synchronization

/// Lets the peer send more as messages are read. While the pipe is full, or messages wait outside it, bytes that arrive
/// are withheld from the stream's window.
final class InboundFlow: Sendable {
  let pipe: MessagePipe
  /// Decodes large messages before they are in the pipe, if the call's format may take long.
  let ahead: MethodHandler.Ahead?
  private let withheld = Atomic(0)
  private let holding = Atomic(false)

  init(_ pipe: MessagePipe, _ ahead: MethodHandler.Ahead? = nil) {
    self.pipe = pipe
    self.ahead = ahead
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

  private var hasRoom: Bool { !isHolding && pipe.hasRoom }

  func takeWithheld() -> Int {
    withheld.exchange(0, ordering: .sequentiallyConsistent)
  }

  /// Whether a read that left this much room has made some for withheld bytes, or for a good part of the held ones.
  func owesCredit(_ room: MessagePipe.Room) -> Bool {
    if isHolding { return room == .much }
    return room != .none && withheld.load(ordering: .sequentiallyConsistent) > 0
  }
}
