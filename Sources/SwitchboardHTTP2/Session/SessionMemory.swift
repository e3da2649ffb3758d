import CNghttp2

extension BlockPool {
  /// nghttp2's view of the pool, which must outlive the session.
  var sessionMemory: nghttp2_mem {
    nghttp2_mem(
      mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
      malloc: { byteCount, data in BlockPool.with(data, else: nil) { $0.take(byteCount) } },
      free: { block, data in
        guard let block else { return }
        BlockPool.with(data, else: ()) { $0.giveBack(block) }
      },
      calloc: { count, size, data in
        let (byteCount, isTooMuch) = count.multipliedReportingOverflow(by: size)
        guard !isTooMuch else { return nil }
        return BlockPool.with(data, else: nil) { pool in
          let block = pool.take(byteCount)
          block?.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
          return block
        }
      },
      realloc: { block, byteCount, data in
        BlockPool.with(data, else: nil) { pool in
          if let block { pool.grow(block, to: byteCount) } else { pool.take(byteCount) }
        }
      }
    )
  }

  /// The session that allocates retains its pool.
  private static func with<Result>(
    _ data: UnsafeMutableRawPointer?,
    else fallback: Result,
    _ body: (BlockPool) -> Result
  ) -> Result {
    guard let data else { return fallback }
    return Unmanaged<BlockPool>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
  }
}
