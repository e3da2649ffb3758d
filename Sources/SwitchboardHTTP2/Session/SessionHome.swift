import CNghttp2

/// nghttp2's session, and what it allocates with.
struct SessionHome {
  let session: OpaquePointer
  private let pool: BlockPool
  private let memory: UnsafeMutablePointer<SessionMemory>

  /// While the session is made, tables and buffers are taken from the arena.
  private static let leastOfTables = 513
  /// While it sends, only buffers of frames are: what takes less are headers, which come and go in an order for which an
  /// arena is not made.
  private static let leastOfBuffers = 8 * 1024

  /// Without an arena, the session lives in memory of the pool. Returns `nil` if there is not enough memory.
  init?(in pool: BlockPool, _ arena: Arena?, _ make: (nghttp2_mem) -> OpaquePointer?) {
    self.pool = pool
    memory = .allocate(capacity: 1)
    memory.initialize(
      to: SessionMemory(pool: .passUnretained(pool), arena: arena?.base, least: Self.leastOfTables)
    )
    guard let session = make(SessionMemory.allocator(memory)) else {
      memory.deallocate()
      return nil
    }
    self.session = session
    memory.pointee.least = .max
  }

  /// Ends the session. Call once, on any thread, while the arena is awake.
  func end() {
    nghttp2_session_del(session)
    memory.deallocate()
  }

  /// Whether buffers for frames that nghttp2 allocates are taken from the arena, too.
  @inline(__always)
  func settle(_ isSettling: Bool) { memory.pointee.least = isSettling ? Self.leastOfBuffers : .max }
}
