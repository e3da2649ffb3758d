// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardNetwork

/// nghttp2's session, and what it allocates with.
struct SessionHandle {
  let session: OpaquePointer
  private let pool: BlockPool
  private let memory: UnsafeMutablePointer<SessionMemory>

  /// While the session is created, tables and buffers are taken from the arena.
  private static let smallestTable = 513
  /// While it sends, only buffers for frames are. Smaller blocks hold headers, which are freed in an order that does not
  /// suit an arena.
  private static let smallestBuffer = 8 * 1024

  /// Without an arena, the session lives in memory of the pool. Returns `nil` if there is not enough memory.
  init?(in pool: BlockPool, _ arena: Arena?, _ make: (nghttp2_mem) -> OpaquePointer?) {
    self.pool = pool
    memory = .allocate(capacity: 1)
    memory.initialize(
      to: SessionMemory(pool: .passUnretained(pool), arena: arena?.base, least: Self.smallestTable)
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

  /// Sets whether nghttp2 takes buffers for frames from the arena.
  @inline(__always)
  func useArenaForBuffers(_ isOn: Bool) { memory.pointee.least = isOn ? Self.smallestBuffer : .max }
}
