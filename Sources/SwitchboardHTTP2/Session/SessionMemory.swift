import CNghttp2

/// What nghttp2 allocates for one session with. It must outlive the session.
///
/// It belongs to the session alone, because a callback of one session may call another one of the same loop: memory of
/// that one must not come from this one's arena.
struct SessionMemory {
  /// The session's home retains it.
  let pool: Unmanaged<BlockPool>
  let arena: UnsafeMutableRawPointer?
  /// Blocks of at least this size are taken from the arena, as far as it has room.
  var least = Int.max

  func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    pool._withUnsafeGuaranteedRef { $0.take(byteCount, from: byteCount >= least ? arena : nil) }
  }

  func grow(_ block: UnsafeMutableRawPointer, to byteCount: Int) -> UnsafeMutableRawPointer? {
    pool._withUnsafeGuaranteedRef { $0.grow(block, to: byteCount, from: byteCount >= least ? arena : nil) }
  }

  func giveBack(_ block: UnsafeMutableRawPointer) { pool._withUnsafeGuaranteedRef { $0.giveBack(block) } }

  /// nghttp2's view of the memory at an address.
  static func allocator(_ address: UnsafeMutablePointer<SessionMemory>) -> nghttp2_mem {
    nghttp2_mem(
      mem_user_data: UnsafeMutableRawPointer(address),
      malloc: { byteCount, data in SessionMemory.at(data)?.pointee.take(byteCount) },
      free: { block, data in
        if let block { SessionMemory.at(data)?.pointee.giveBack(block) }
      },
      calloc: { count, size, data in
        let (byteCount, isTooMuch) = count.multipliedReportingOverflow(by: size)
        guard !isTooMuch, let block = SessionMemory.at(data)?.pointee.take(byteCount) else { return nil }
        block.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        return block
      },
      realloc: { block, byteCount, data in
        guard let memory = SessionMemory.at(data) else { return nil }
        return if let block { memory.pointee.grow(block, to: byteCount) } else {
          memory.pointee.take(byteCount)
        }
      }
    )
  }

  private static func at(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SessionMemory>? {
    data?.assumingMemoryBound(to: SessionMemory.self)
  }
}
