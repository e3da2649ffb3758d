// unsafe: a list of memory that is copied from while its owner lends it

/// The finished pieces of output that is written from its end to its start: a list from the first piece of the output to
/// its last.
///
/// A piece is in memory of this list, of its creator, or of the message, which outlives the output. The creator of a
/// list must call ``deallocate()`` once.
struct OutputPieces {
  private struct Node {
    let following: UnsafeMutablePointer<Node>?
    let piece: UnsafeRawBufferPointer
  }

  // Each node is at the start of its own allocation, before the requested memory.
  private var first: UnsafeMutablePointer<Node>?

  /// The size of all pieces.
  private(set) var byteCount = 0

  /// Puts a piece before the others, and returns new memory for the output that precedes it.
  mutating func prepend(_ piece: UnsafeRawBufferPointer, capacity: Int = 0) -> UnsafeMutableRawBufferPointer {
    let header = MemoryLayout<Node>.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: header + capacity, alignment: 16)
    let node = memory.bindMemory(to: Node.self, capacity: 1)
    node.initialize(to: Node(following: first, piece: piece))
    first = node
    byteCount += piece.count
    return UnsafeMutableRawBufferPointer(start: memory + header, count: capacity)
  }

  func deallocate() {
    var next = first
    while let node = next {
      next = node.pointee.following
      UnsafeMutableRawPointer(node).deallocate()
    }
  }

  /// Copies the pieces, one after the other, to memory that has room for them.
  func copy(to destination: UnsafeMutableRawPointer) {
    var (next, target) = (first, destination)
    while let node = next {
      let piece = node.pointee.piece
      if let start = piece.baseAddress { target.copyMemory(from: start, byteCount: piece.count) }
      target += piece.count
      next = node.pointee.following
    }
  }
}
