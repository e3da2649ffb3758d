// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

/// The output of a connection in one turn: small pieces copied together, and references to large payloads between them.
package final class OutputBuffer {
  enum Segment {
    case copied(start: Int, count: Int)
    /// The pointer points into the message, which is retained here.
    case borrowed(MessageBuffer, UnsafeRawBufferPointer)
  }

  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var copied = 0
  @exclusivity(unchecked) private var openSegmentStart = 0
  @exclusivity(unchecked) private(set) var segments: [Segment] = []
  @exclusivity(unchecked) package private(set) var byteCount = 0

  // Exclusivity is unchecked because a buffer belongs to one loop, and no method calls other code that uses it.

  init() {
    capacity = 32 * 1024
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  package var isEmpty: Bool { byteCount == 0 }

  package func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    if copied + bytes.count > capacity { grow(to: copied + bytes.count) }
    (memory + copied).copyMemory(from: source, byteCount: bytes.count)
    copied += bytes.count
    byteCount += bytes.count
  }

  /// Appends what `fill` writes to memory of `count` bytes. `fill` returns how many bytes it has written, and must not
  /// use this buffer.
  package func append(atMost count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
    if copied + count > capacity { grow(to: copied + count) }
    let filled = min(count, fill(UnsafeMutableRawBufferPointer(start: memory + copied, count: count)))
    copied += filled
    byteCount += filled
  }

  package func append(_ message: MessageBuffer, _ bytes: UnsafeRawBufferPointer) {
    closeSegment()
    segments.append(.borrowed(message, bytes))
    byteCount += bytes.count
  }

  /// Calls `body` with the pieces in order. Their addresses are valid until the next `append` or `reset`.
  func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Void) {
    for segment in segments {
      switch segment {
      case .copied(let start, let count): body(UnsafeRawBufferPointer(start: memory + start, count: count))
      case .borrowed(_, let bytes): body(bytes)
      }
    }
    if copied > openSegmentStart {
      body(UnsafeRawBufferPointer(start: memory + openSegmentStart, count: copied - openSegmentStart))
    }
  }

  var pieceCount: Int { segments.count + (copied > openSegmentStart ? 1 : 0) }

  func reset() {
    copied = 0
    openSegmentStart = 0
    byteCount = 0
    if !segments.isEmpty { segments.removeAll(keepingCapacity: true) }
  }

  private func closeSegment() {
    guard copied > openSegmentStart else { return }
    segments.append(.copied(start: openSegmentStart, count: copied - openSegmentStart))
    openSegmentStart = copied
  }

  private func grow(to needed: Int) {
    let larger = max(needed, capacity * 2)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    moved.copyMemory(from: memory, byteCount: copied)
    memory.deallocate()
    memory = moved
    capacity = larger
  }
}
