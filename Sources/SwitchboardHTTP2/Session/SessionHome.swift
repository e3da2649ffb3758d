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

  /// Returns `nil` if there is not enough memory.
  init?(in pool: BlockPool, _ make: () -> OpaquePointer?) {
    self.pool = pool
    arena = pool.arenas.take()
    pool.arena = arena?.base
    defer { pool.arena = nil }
    guard let session = make() else {
      if let arena { pool.arenas.giveBack(arena) }
      return nil
    }
    self.session = session
  }

  /// Ends the session. Call once, on any thread.
  mutating func end() {
    wake()
    nghttp2_session_del(session)
    if let arena { pool.arenas.giveBack(arena) }
  }

  /// Whether large blocks that nghttp2 allocates are taken from the arena, too.
  @inline(__always)
  func settle(_ isSettling: Bool) {
    let base = isSettling ? arena?.base : nil
    // Retained by this, but not for each call.
    Unmanaged.passUnretained(pool)._withUnsafeGuaranteedRef { $0.arena = base }
  }

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
