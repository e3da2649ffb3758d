import Dispatch
import Switchboard
import Synchronization

/// Records how a call calls its handler, and whether it does so on the handler's queue, one call at a time.
final class RecordingHandler<Response: Sendable>: ResponseHandler {
  enum Event: Sendable {
    case metadata(HPACKHeaders)
    case message(Response)
    case wrote
    case closed(HPACKHeaders, GRPCStatus?)
  }

  let dispatchQueue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()
  private let events: AsyncStream<Event>
  private let announce: AsyncStream<Event>.Continuation
  private let misplaced = Atomic(0)
  private let inside = Atomic(0)
  private let onMessage: (@Sendable (Response) -> Void)?

  init(
    queue: DispatchQueue = DispatchQueue(label: "handler"),
    onMessage: (@Sendable (Response) -> Void)? = nil
  ) {
    dispatchQueue = queue
    queue.setSpecific(key: key, value: true)
    self.onMessage = onMessage
    (events, announce) = AsyncStream<Event>.makeStream()
  }

  func receivedInitialMetadata(_ initialMetadata: HPACKHeaders) { note(.metadata(initialMetadata)) }

  func receivedMessage(_ message: Response) {
    onMessage?(message)
    note(.message(message))
  }

  func wroteMessage() { note(.wrote) }

  func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?) {
    note(.closed(trailingMetadata, error))
    announce.finish()
  }

  private func note(_ event: Event) {
    let others = inside.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    if DispatchQueue.getSpecific(key: key) != true || others != 0 {
      misplaced.wrappingAdd(1, ordering: .relaxed)
    }
    announce.yield(event)
    inside.wrappingSubtract(1, ordering: .acquiringAndReleasing)
  }

  /// How often a method was called off the queue, or before the last one had returned.
  var misplacedCount: Int { misplaced.load(ordering: .relaxed) }

  func next() async -> Event? {
    for await event in events { return event }
    return nil
  }

  /// Waits for the end, and returns all events.
  func all() async -> [Event] {
    var all: [Event] = []
    for await event in events { all.append(event) }
    return all
  }
}

extension RecordingHandler.Event {
  var message: Response? {
    if case .message(let message) = self { message } else { nil }
  }

  /// `nil` unless this is the end.
  var end: (trailers: HPACKHeaders, error: GRPCStatus?)? {
    if case .closed(let trailers, let error) = self { (trailers, error) } else { nil }
  }

  /// A word for each kind of event, except for those that may come at any time.
  var word: String? {
    switch self {
    case .metadata: "metadata"
    case .message: "message"
    case .wrote: nil
    case .closed: "closed"
    }
  }
}

/// The code that a misused operation throws.
func refusal(of operation: () throws -> Void) -> GRPCStatus.Code? {
  do {
    try operation()
    return nil
  } catch {
    return (error as? GRPCStatus)?.code
  }
}
