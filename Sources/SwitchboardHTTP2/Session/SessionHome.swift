import CNghttp2

/// nghttp2's session and the memory in which it lives.
///
/// ```
///   awake ──nobody enters it for a while──> drowsy ──nor for another while──> packed
///     ^────────────────somebody enters it──────┴─────────────────────────────────┘
/// ```
/// nghttp2 does not notice: while it is packed it does not run, and before that changes all its memory is as it was.
struct SessionHome {
  /// Valid, but not to be entered unless `isAwake`.
  let session: OpaquePointer
  private(set) var isAwake = true
  /// `nil`: the session lives in memory of its pool, and is never packed.
  private let arena: Arena?
  private var copy: UnsafeMutableRawPointer?
  private let pool: BlockPool
  private let memory: UnsafeMutablePointer<SessionMemory>

  /// While the session is made, tables and buffers are taken from the arena.
  private static let leastOfTables = 513
  /// While it sends, only buffers of frames are: what takes less are headers, which come and go in an order for which an
  /// arena is not made.
  private static let leastOfBuffers = 8 * 1024

  /// Returns `nil` if there is not enough memory.
  init?(in pool: BlockPool, _ make: (nghttp2_mem) -> OpaquePointer?) {
    self.pool = pool
    arena = pool.arenas.take()
    memory = .allocate(capacity: 1)
    memory.initialize(
      to: SessionMemory(pool: .passUnretained(pool), arena: arena?.base, least: Self.leastOfTables)
    )
    guard let session = make(SessionMemory.allocator(memory)) else {
      memory.deallocate()
      if let arena { pool.arenas.giveBack(arena) }
      return nil
    }
    self.session = session
    memory.pointee.least = .max
  }

  /// Ends the session. Call once, on any thread.
  mutating func end() {
    wake()
    nghttp2_session_del(session)
    memory.deallocate()
    if let arena { pool.arenas.giveBack(arena) }
  }

  /// Whether buffers for frames that nghttp2 allocates are taken from the arena, too.
  @inline(__always)
  func settle(_ isSettling: Bool) { memory.pointee.least = isSettling ? Self.leastOfBuffers : .max }

  mutating func wake() {
    isAwake = true
    guard let copy, let arena else { return }
    arena.unpack(copy)
    self.copy = nil
  }

  /// Called regularly while the session is awake or drowsy. Returns `false` when there is no more to do.
  mutating func rest() -> Bool {
    guard isAwake else {
      pack()
      return false
    }
    isAwake = false
    return true
  }

  /// Packs the session at once, if there is memory for that. nghttp2 must not be running.
  mutating func pack() {
    isAwake = false
    if copy == nil { copy = arena?.pack() }
  }

  var isPacked: Bool { copy != nil }
}
