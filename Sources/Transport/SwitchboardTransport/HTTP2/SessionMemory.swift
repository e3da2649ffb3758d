// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardNetwork

/// The allocator of one session of nghttp2. It must outlive the session.
///
/// Each session has its own, because a callback of one session may call another session on the same loop, whose memory
/// must not come from the first one's arena.
struct SessionMemory {
  /// The `SessionHandle` retains it.
  let pool: Unmanaged<BlockPool>
  let arena: UnsafeMutableRawPointer?
  /// Blocks of at least this size are allocated in the arena, if it has room.
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
