// unsafe: framing in place over bytes that the session lends

import SwitchboardCall
import SwitchboardNetwork

/// The work on large messages of one connection that other threads do: decompression, conversion and decoding.
///
/// They do one piece of it at a time, so that a client with many large messages does not take the processors from the
/// others. Decompressed messages count until they were read. While they exceed the limit, none is decompressed, so they
/// take at most the limit and one message.
///
/// ```
///   inflations ──room──┐
///                      ├──its turn──> another thread ──> the loop
///   others ────────────┘
/// ```
final class LargeMessages: @unchecked Sendable {
  // Sendable because everything is used on the loop, except for the work itself. Unchecked exclusivity for the same
  // reason.

  /// Work that has begun or waits for its turn.
  final class Piece: @unchecked Sendable {
    // Sendable because only the loop uses it.
    private let owner: LargeMessages
    fileprivate let begin: () -> Task<Void, Never>
    fileprivate let drop: () -> Void
    @exclusivity(unchecked) fileprivate var task: Task<Void, Never>?

    fileprivate init(
      of owner: LargeMessages,
      begin: @escaping () -> Task<Void, Never>,
      drop: @escaping () -> Void
    ) {
      self.owner = owner
      self.begin = begin
      self.drop = drop
    }

    /// Work that has not begun does not begin: otherwise the messages of calls that clients have reset could pile up.
    func cancel() {
      if let task { return task.cancel() }
      owner.inflations.removeAll { $0 === self }
      owner.others.removeAll { $0 === self }
      drop()
    }
  }

  private let loop: Loop
  private let limit: Int
  @exclusivity(unchecked) private var isBusy = false
  /// Whether the last piece that began was not a decompression.
  @exclusivity(unchecked) private var beganOther = false
  @exclusivity(unchecked) private var inflations: [Piece] = []
  @exclusivity(unchecked) private var others: [Piece] = []
  /// The bytes of decompressed messages that were not read.
  @exclusivity(unchecked) private(set) var inflatedByteCount = 0

  init(on loop: Loop, limit: Int) {
    self.loop = loop
    self.limit = limit
  }

  /// Does work on another thread, and then passes its result on the loop: `nil` if the piece was cancelled.
  func run<Product: Sendable>(
    inflating: Bool = false,
    _ work: @escaping @Sendable () -> Product,
    then finish: @escaping @Sendable (Product?) -> Void
  ) -> Piece {
    // The loop must not end before it receives the result.
    loop.openHandles += 1
    let loop = loop
    let piece = Piece(of: self) {
      Task.detached(priority: .ofLargeMessages) {
        let product = Task.isCancelled ? nil : work()
        loop.execute {
          loop.openHandles -= 1
          self.isBusy = false
          finish(product)
          self.beginNext()
        }
      }
    } drop: {
      loop.openHandles -= 1
      finish(nil)
    }
    if inflating { inflations.append(piece) } else { others.append(piece) }
    beginNext()
    return piece
  }

  /// Counts a decompressed message.
  func add(inflated byteCount: Int) { inflatedByteCount += byteCount }

  /// Decompressed messages were read, or are no longer needed.
  func release(inflated byteCount: Int) {
    inflatedByteCount -= byteCount
    beginNext()
  }

  private func beginNext() {
    guard !isBusy else { return }
    let next: Piece
    // In turn, because streams may have other work forever. Once there is no room, only that makes some.
    let mayInflate = !inflations.isEmpty && inflatedByteCount < limit
    if mayInflate, beganOther || others.isEmpty {
      next = inflations.removeFirst()
      beganOther = false
    } else if !others.isEmpty {
      next = others.removeFirst()
      beganOther = true
    } else {
      return
    }
    isBusy = true
    next.task = next.begin()
  }
}
