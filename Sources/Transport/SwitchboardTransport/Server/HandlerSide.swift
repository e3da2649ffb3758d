import SwitchboardCall
import Synchronization

/// The side of a call that its handlers use, from any thread: what they choose for the response, how one of them ends the
/// call, and what they signal to the loop.
///
/// ```
///   open ──the call is over──> closed: what a handler still does is ignored
/// ```
struct HandlerSide: ~Copyable, Sendable {
  let signals = Atomic(0)
  /// Whether the handlers were cancelled, because the call ended before them.
  private let cancelled = Atomic(false)
  private let state = Locked(State())
  /// Whether a handler has chosen anything that the end of the call needs. Most choose nothing.
  private let hasChoices = Atomic(false)

  struct State: Sendable {
    var headers: HPACKHeaders?
    var trailers: HPACKHeaders?
    var compression = MessageCompression.none
    fileprivate var outcome: Outcome?
    var responses: MessagePipe?
    var userInfo: UserInfo?
    var load: (any CallLoad)?
    /// The context of the handler, if it was asked for.
    var context: (any CallTracer & ContextSource)?
    /// What interceptors have made of the headers, for the context.
    var changedHeaders: HPACKHeaders?
    /// Whether the headers of the response were made.
    fileprivate var headersAreMade = false
    fileprivate(set) var isClosed = false
  }

  /// The result that a handler on another thread ends its call with. It is an object because few calls need one.
  final class Outcome: Sendable {
    let message: MessageBuffer?
    let status: GRPCStatus?

    init(_ message: MessageBuffer?, _ status: GRPCStatus?) {
      self.message = message
      self.status = status
    }
  }

  // MARK: On any thread

  @inline(__always)
  borrowing func withState<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

  /// Changes what `takeForEnd` returns.
  @inline(__always)
  borrowing func choose<Result>(_ body: (inout State) -> Result) -> Result {
    // First, so that a thread that sees the change under the lock sees this too.
    hasChoices.store(true, ordering: .releasing)
    return state.withLock(body)
  }

  /// Leaves the end of the call to the loop. Only the first end counts.
  borrowing func put(_ outcome: Outcome) { state.withLock { if $0.outcome == nil { $0.outcome = outcome } } }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
  var isClosed: Bool { state.withLock(\.isClosed) }
  /// Whether what the headers say can no longer change. A call without choices is over before anything tells of its headers.
  var headersAreMade: Bool { state.withLock { $0.headersAreMade || $0.isClosed } }
  /// Whether a handler has ended the call, or it is over.
  var hasAnswer: Bool { state.withLock { $0.isClosed || $0.outcome != nil } }

  // MARK: On the loop

  borrowing func cancel() { cancelled.store(true, ordering: .relaxed) }

  var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Returns the pipe of the responses and, if the call may have one, the context, which are to be ended.
  @inline(__always)
  borrowing func close(hasContext: Bool) -> (
    responses: MessagePipe?, context: (any CallTracer & ContextSource)?
  ) {
    state.withLock { state in
      state.isClosed = true
      return (state.responses, hasContext ? state.context : nil)
    }
  }

  /// What the headers say, and the pipe of what follows them. From then on, that can no longer change.
  borrowing func takeForHeaders() -> (
    metadata: HPACKHeaders?, responses: MessagePipe?, compression: MessageCompression
  ) {
    state.withLock { state in
      state.headersAreMade = true
      return (state.headers, state.responses, state.compression)
    }
  }

  typealias ForEnd = (
    failure: GRPCStatus?, headers: HPACKHeaders?, trailers: HPACKHeaders?, load: (any CallLoad)?,
    responses: MessagePipe?, compression: MessageCompression
  )

  /// What the end of the call needs. Locked once or not at all, because in small calls the cost of the lock matters.
  @inline(__always)
  borrowing func takeForEnd(beforeHeaders: Bool) -> ForEnd {
    guard hasChoices.load(ordering: .acquiring) else { return (nil, nil, nil, nil, nil, .none) }
    return state.withLock { $0.takeForEnd(beforeHeaders: beforeHeaders) }
  }
}

extension HandlerSide.State {
  fileprivate mutating func takeForEnd(beforeHeaders: Bool) -> HandlerSide.ForEnd {
    headersAreMade = true
    let failure = takeUnsendable(beforeHeaders: beforeHeaders)
    return (failure, headers, trailers, load, responses, compression)
  }

  /// Removes metadata that cannot be sent. Returns the failure with which the call must then end.
  private mutating func takeUnsendable(beforeHeaders: Bool) -> GRPCStatus? {
    if beforeHeaders, let failure = headers?.failureToSend {
      headers = nil
      return failure
    }
    guard let failure = trailers?.failureToSend else { return nil }
    trailers = nil
    return failure
  }
}

extension HPACKHeaders? {
  /// These fields, if there are any, and then `others`.
  func adding(_ others: HPACKHeaders) -> HPACKHeaders {
    guard var all = self else { return others }
    all.add(contentsOf: others)
    return all
  }
}
