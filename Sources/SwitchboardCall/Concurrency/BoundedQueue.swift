/// Elements on their way to one reader, each side on any thread. Writers wait while what lies unread costs too much.
///
/// ```
///            push                finish
///   open ───────────> open    ────────────> ended, with what is left to pop
/// ```
/// Tasks that wait look again when they are woken, so that it does no harm to wake one too many. A cancelled task
/// wakes all of them, and finds itself cancelled. What a user of the queue counts beside the elements is in `extra`.
@usableFromInline
struct BoundedQueue<Element: Sendable, Extra: Sendable>: ~Copyable, Sendable {
  // Unsafe continuations: each is stored once, under the lock, and taken out by the one that resumes it.
  @usableFromInline typealias Reader = UnsafeContinuation<Element?, any Error>
  @usableFromInline typealias Writer = UnsafeContinuation<Void, Never>

  /// An element, the end, or a failure in its place.
  @usableFromInline typealias Popped = Result<Element?, GRPCStatus>

  @usableFromInline
  enum End: Sendable {
    case finished
    case failed(GRPCStatus)
  }

  /// Its methods return what is to be resumed once the lock is open.
  @usableFromInline
  struct State: Sendable {
    @usableFromInline var extra: Extra
    @usableFromInline var elements = Queue<Element>()
    /// What the elements cost.
    @usableFromInline var held = 0
    @usableFromInline var end: End?
    @usableFromInline var reader: Reader?
    @usableFromInline var writers: [Writer] = []

    @inlinable
    init(_ extra: Extra) {
      self.extra = extra
    }

    @inlinable
    var isReadable: Bool { !elements.isEmpty || end != nil }

    /// A reader that waits is returned: it is to be handed the element.
    @inlinable
    mutating func push(_ element: Element, cost: Int) -> Reader? {
      if let reader = takeReader() { return reader }
      elements.append(element)
      held += cost
      return nil
    }

    /// `nil`: nothing yet.
    @inlinable
    mutating func pop(cost: (Element) -> Int) -> Popped? {
      if let element = elements.popFirst() {
        held -= cost(element)
        return .success(element)
      }
      switch end {
      case nil: return nil
      case .finished: return .success(nil)
      case .failed(let status): return .failure(status)
      }
    }

    /// `false` when it has ended before, unless it is to drop what is left and end with this.
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

    /// Whether writers need not wait until less than `bound` is held.
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

  /// Has everybody who waits look again.
  @inlinable
  func wake() {
    let (reader, writers) = state.withLock { ($0.takeReader(), $0.takeWriters()) }
    reader?.resume(returning: nil)
    for writer in writers { writer.resume() }
  }

  /// Waits for an element that is handed over, or, with `nil`, for something to pop.
  @inlinable
  nonisolated(nonsending) func waitToRead() async throws -> Element? {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { register($0) }
    } onCancel: {
      wake()
    }
  }

  /// Waits until less than `bound` lies unread, or the queue has ended.
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

  // Whoever cancels a task marks it first, and then has it woken: under the lock, one of the two is seen.

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
  static let twoReaders = GRPCStatus(
    code: .failedPrecondition,
    message: "two tasks read one stream of messages at the same time"
  )
}
