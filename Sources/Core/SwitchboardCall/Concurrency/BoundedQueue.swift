// unsafe: continuations that are stored once and taken out once, under the lock

/// A queue with one reader, usable from any thread. Writers wait while the unread elements cost too much.
///
/// ```
///            push                finish
///   open ───────────> open    ────────────> ended, with what is left to pop
/// ```
/// Resumed tasks check the queue again, so a needless resumption does no harm. Cancelling a task resumes all of them,
/// and the cancelled one then throws. `extra` holds the additional state of a queue's user.
@usableFromInline
struct BoundedQueue<Element: Sendable, Extra: Sendable>: ~Copyable, Sendable {
  // Unsafe continuations: each is stored once, under the lock, and removed by the code that resumes it.
  @usableFromInline typealias Reader = UnsafeContinuation<Element?, any Error>
  @usableFromInline typealias Writer = UnsafeContinuation<Void, Never>

  /// An element, `nil` at the end, or a failure.
  @usableFromInline typealias Popped = Result<Element?, GRPCStatus>

  @usableFromInline
  enum End: Sendable {
    case finished
    case failed(GRPCStatus)
  }

  /// Its methods return the tasks to resume after the lock is released.
  @usableFromInline
  struct State: Sendable {
    @usableFromInline var extra: Extra
    @usableFromInline var elements = Queue<Element>()
    /// The cost of the elements.
    @usableFromInline var held = 0
    @usableFromInline var end: End?
    /// Whether an iterator has read the end.
    @usableFromInline var endWasRead = false
    /// Whether a reader has had an element.
    @usableFromInline var wasRead = false
    @usableFromInline var reader: Reader?
    @usableFromInline var writers: [Writer] = []

    @inlinable
    init(_ extra: Extra) { self.extra = extra }

    @inlinable
    var isReadable: Bool { !elements.isEmpty || end != nil }

    /// Adds an element, or returns the waiting reader, to which the caller must give it.
    @inlinable
    mutating func push(_ element: Element, cost: Int) -> Reader? {
      if let reader = takeReader() {
        wasRead = true
        return reader
      }
      append(element, cost: cost)
      return nil
    }

    /// Adds an element without waking a waiting reader.
    @inlinable
    mutating func append(_ element: Element, cost: Int) {
      elements.append(element)
      held += cost
    }

    /// Returns `nil` if nothing is available yet.
    @inlinable
    mutating func pop(cost: (Element) -> Int) -> Popped? {
      if let element = elements.popFirst() {
        held -= cost(element)
        wasRead = true
        return .success(element)
      }
      switch end {
      case nil: return nil
      case .finished: return .success(nil)
      case .failed(let status): return .failure(status)
      }
    }

    /// Returns `false` if the queue has already ended. `discarding` drops the elements left and replaces the end.
    @inlinable
    @discardableResult
    mutating func finish(_ failure: GRPCStatus?, discarding: Bool = false) -> Bool {
      guard end == nil || discarding else { return false }
      if discarding {
        elements.removeAll()
        held = 0
      }
      end = failure.map { .failed($0) } ?? .finished
      return true
    }

    /// Whether a writer that waits for the cost to fall below `bound` may continue.
    @inlinable
    func hasRoom(below bound: Int) -> Bool { held < bound || end != nil }

    @inlinable
    mutating func takeReader() -> Reader? {
      defer { reader = nil }
      return reader
    }

    @inlinable
    mutating func takeWriters() -> [Writer] {
      guard !writers.isEmpty else { return [] }
      defer { writers = [] }
      return writers
    }
  }

  @usableFromInline let state: Locked<State>

  @inlinable
  init(_ extra: Extra) {
    state = Locked(State(extra))
  }

  /// Called by an iterator that has come to the end without a failure. Throws if another one has been there: to the
  /// second reader, the stream would look as if it had been empty.
  @usableFromInline
  func readEnd() throws {
    let isSecond = state.withLock { state in
      defer { state.endWasRead = true }
      return state.endWasRead
    }
    if isSecond { throw GRPCStatus.readTwice }
  }

  /// Makes every waiting task check again.
  @inlinable
  func wake() {
    let (reader, writers) = state.withLock { ($0.takeReader(), $0.takeWriters()) }
    reader?.resume(returning: nil)
    for writer in writers { writer.resume() }
  }

  /// Waits for an element; returns `nil` when there may be something to pop.
  @inlinable
  nonisolated(nonsending) func waitToRead() async throws -> Element? {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { register($0) }
    } onCancel: {
      wake()
    }
  }

  /// Waits until the unread elements cost less than `bound`, or the queue has ended.
  @inlinable
  nonisolated(nonsending) func waitToWrite(below bound: Int) async throws {
    while !state.withLock({ $0.hasRoom(below: bound) }) {
      try Task.checkCancellation()
      await withTaskCancellationHandler {
        await withUnsafeContinuation { register($0, below: bound) }
      } onCancel: {
        wake()
      }
    }
  }

  // Cancellation marks the task before `wake` takes the lock: a task sees the mark when it registers, or is resumed.

  @usableFromInline
  func register(_ reader: Reader) {
    let outcome: Result<Void, any Error>? = state.withLock { state in
      if Task.isCancelled { return .failure(CancellationError()) }
      if state.reader != nil { return .failure(GRPCStatus.twoReaders) }
      if state.isReadable { return .success(()) }
      state.reader = reader
      return nil
    }
    if let outcome { reader.resume(with: outcome.map { nil }) }
  }

  @usableFromInline
  func register(_ writer: Writer, below bound: Int) {
    let mustWait = state.withLock { state in
      guard !Task.isCancelled, !state.hasRoom(below: bound) else { return false }
      state.writers.append(writer)
      return true
    }
    if !mustWait { writer.resume() }
  }
}

extension GRPCStatus {
  /// Whether the code that reads or writes a stream of messages, or throws a status, has done it wrong. In a handler, that is
  /// no fault of its client.
  package var isMisuse: Bool {
    (code == .failedPrecondition || code == .unknown) && origin != .peer
      && [.readTwice, .twoReaders, .writeAfterEnd, .thrownSuccess].contains(self)
  }

  static let readTwice = GRPCStatus(
    code: .failedPrecondition,
    message: "a stream of messages was read a second time: the first reader has had all of them"
  )
  static let twoReaders = GRPCStatus(
    code: .failedPrecondition,
    message: "two tasks read one stream of messages at the same time"
  )
}
