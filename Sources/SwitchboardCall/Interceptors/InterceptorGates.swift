/// A queue that writers wait for.
@usableFromInline
protocol WriterRoom: AnyObject, Sendable {
  nonisolated(nonsending) func waitUntilWritable() async throws
}

extension MessagePipe: WriterRoom {}
extension PartQueue: WriterRoom {}

/// Where a writer waits until what it wrote has gone on.
@usableFromInline
struct InterceptorGate: Sendable {
  /// What may still be under way on executors of interceptors, where there are any.
  let executors: Credit?
  /// The next queue; `nil` where there is none yet.
  let queue: (any WriterRoom)?

  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable() async throws {
    await executors?.wait()
    try await queue?.waitUntilWritable()
  }
}

/// The interceptors of a chain that take messages in themselves, by their places.
struct InterceptorGates {
  private var gates: [(index: Int, queue: () -> (any WriterRoom)?)] = []

  mutating func add(at index: Int, _ queue: @escaping () -> (any WriterRoom)?) {
    gates.append((index, queue))
  }

  /// The nearest one behind this place.
  func first(after index: Int) -> (any WriterRoom)? {
    gates.isEmpty ? nil : gates.filter { $0.index > index }.min { $0.index < $1.index }?.queue()
  }

  /// The nearest one before this place.
  func last(before index: Int) -> (any WriterRoom)? {
    gates.isEmpty ? nil : gates.filter { $0.index < index }.max { $0.index < $1.index }?.queue()
  }
}
