/// Typed messages on their way from a chain of interceptors, on the loop, to the one task that reads them.
///
/// Where the other side waits to be asked, it asks for a window of messages, and again when half of it was read.
@usableFromInline
final class PartQueue<Element: Sendable>: Sendable {
  @usableFromInline typealias Reader = UnsafeContinuation<Element?, any Error>

  @usableFromInline
  enum End: Sendable {
    case finished
    case failed(GRPCStatus)
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var elements = Queue<Element>()
    @usableFromInline var end: End?
    // Unsafe continuations: each is stored once, under the lock, and taken out by whoever resumes it.
    @usableFromInline var reader: Reader?
    @usableFromInline var writers: [UnsafeContinuation<Void, Never>] = []
    @usableFromInline var readerWasCancelled = false
    /// How many were asked for and have not come.
    @usableFromInline var asked = 0

    @inlinable
    init() {}

    /// What a reader gets now; `nil`: it has to wait.
    @inlinable
    mutating func next() -> Result<Element?, any Error>? {
      if let element = elements.popFirst() { return .success(element) }
      switch end {
      case nil: return nil
      case .finished: return .success(nil)
      case .failed(let status): return .failure(status)
      }
    }

    @inlinable
    mutating func takeReader() -> Reader? {
      defer { reader = nil }
      return reader
    }

    @inlinable
    mutating func takeWriters() -> [UnsafeContinuation<Void, Never>] {
      guard !writers.isEmpty else { return [] }
      defer { writers = [] }
      return writers
    }

    /// How many to ask for now.
    @inlinable
    mutating func toAsk() -> Int {
      let missing = PartQueue.limit - asked - elements.count
      guard end == nil, missing >= PartQueue.limit / 2 else { return 0 }
      asked += missing
      return missing
    }
  }

  /// How many messages lie unread before the network is made to wait.
  @usableFromInline static var limit: Int { 16 }

  @usableFromInline let state = Locked(State())
  @usableFromInline let ask: (@Sendable (Int) -> Void)?

  /// `ask` tells the other side how many more messages are wanted.
  @inlinable
  init(ask: (@Sendable (Int) -> Void)? = nil) {
    self.ask = ask
  }
}

// MARK: - On the loop

extension PartQueue {
  /// Asks for the first messages.
  @usableFromInline
  func open() {
    guard let ask else { return }
    let count = state.withLock { $0.toAsk() }
    if count > 0 { ask(count) }
  }

  @inlinable
  func push(_ element: Element) {
    let (reader, count): (Reader?, Int) = state.withLock { state in
      guard state.end == nil else { return (nil, 0) }
      if state.asked > 0 { state.asked -= 1 }
      if let reader = state.takeReader() { return (reader, state.toAsk()) }
      state.elements.append(element)
      return (nil, 0)
    }
    reader?.resume(returning: element)
    if count > 0 { ask?(count) }
  }

  /// Nothing follows. With a status, the reader gets it once it has read what was pushed.
  @inlinable
  func finish(_ failure: GRPCStatus?) {
    let (reader, writers) = state.withLock { state in
      if state.end == nil { state.end = failure.map { .failed($0) } ?? .finished }
      return (state.takeReader(), state.takeWriters())
    }
    reader?.resume(with: failure.map { .failure($0) } ?? .success(nil))
    for writer in writers { writer.resume() }
  }

  /// Waits until the reader has caught up: to a few messages, or to the last one where that was large.
  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable(afterBytes byteCount: Int = 0) async {
    let bound = byteCount > 16 * 1024 ? 1 : Self.limit
    while state.withLock({ $0.end == nil && $0.elements.count >= bound }) {
      await withUnsafeContinuation { continuation in
        let isReady = state.withLock { state in
          if state.end != nil || state.elements.count < bound { return true }
          state.writers.append(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}

// MARK: - The reader

extension PartQueue {
  @inlinable
  nonisolated(nonsending) func next() async throws -> Element? {
    let (result, writers, count) = state.withLock { state in
      state.readerWasCancelled = false
      return (state.next(), state.takeWriters(), ask == nil ? 0 : state.toAsk())
    }
    for writer in writers { writer.resume() }
    if count > 0 { ask?(count) }
    if let result { return try result.get() }
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { register($0) }
    } onCancel: {
      cancelReader()
    }
  }

  @usableFromInline
  func register(_ reader: Reader) {
    let result: Result<Element?, any Error>? = state.withLock { state in
      if state.readerWasCancelled { return .failure(CancellationError()) }
      if state.reader != nil { return .failure(GRPCStatus.twoReaders) }
      if let result = state.next() { return result }
      state.reader = reader
      return nil
    }
    if let result { reader.resume(with: result) }
  }

  @usableFromInline
  func cancelReader() {
    let reader = state.withLock { state in
      state.readerWasCancelled = true
      return state.takeReader()
    }
    reader?.resume(throwing: CancellationError())
  }
}
