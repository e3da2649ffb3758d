/// Typed messages on their way from a chain of interceptors, on the loop, to the one task that reads them.
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
    @usableFromInline var writer: UnsafeContinuation<Void, Never>?
    @usableFromInline var readerWasCancelled = false

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
    mutating func takeWriter() -> UnsafeContinuation<Void, Never>? {
      defer { writer = nil }
      return writer
    }
  }

  /// How many messages lie unread before the network is made to wait.
  @usableFromInline static var limit: Int { 16 }

  @usableFromInline let state = Locked(State())

  @inlinable
  init() {}
}

// MARK: - On the loop

extension PartQueue {
  @inlinable
  func push(_ element: Element) {
    let reader: Reader? = state.withLock { state in
      guard state.end == nil else { return nil }
      if let reader = state.takeReader() { return reader }
      state.elements.append(element)
      return nil
    }
    reader?.resume(returning: element)
  }

  /// Nothing follows. With a status, the reader gets it once it has read what was pushed.
  @inlinable
  func finish(_ failure: GRPCStatus?) {
    let (reader, writer) = state.withLock { state in
      if state.end == nil { state.end = failure.map { .failed($0) } ?? .finished }
      return (state.takeReader(), state.takeWriter())
    }
    reader?.resume(with: failure.map { .failure($0) } ?? .success(nil))
    writer?.resume()
  }

  /// Waits until the reader has caught up: to a few messages, or to the last one where that was large.
  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable(afterBytes byteCount: Int) async {
    let bound = byteCount > 16 * 1024 ? 1 : Self.limit
    while state.withLock({ $0.end == nil && $0.elements.count >= bound }) {
      await withUnsafeContinuation { continuation in
        let isReady = state.withLock { state in
          if state.end != nil || state.elements.count < bound { return true }
          state.writer = continuation
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
    let (result, writer) = state.withLock { state in
      state.readerWasCancelled = false
      return (state.next(), state.takeWriter())
    }
    writer?.resume()
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
