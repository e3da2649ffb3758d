// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Arenas of one size for the connections of a loop.
///
/// Each slab of 64 is one block of the system's allocator, so that the process has few mappings, and leak checkers follow
/// the pointers in it. Only the pages of an arena that were written to take memory.
package final class ArenaSlabs: Sendable {
  // Locked, because the last reference to a session may be released on any thread.
  private let state = Locked(State())

  private struct State: @unchecked Sendable {
    // Sendable because it is behind the lock.
    var slabs: [Slab] = []
    /// Whether pages cannot be released, or are not zero afterwards.
    var isUnsupported = false
  }

  private struct Slab {
    /// `nil` if the slab was released; then it has no free arenas.
    var base: UnsafeMutableRawPointer?
    /// A bit for each arena that is free.
    var free: UInt64 = 0
  }

  /// The size of a session's arena, in whole pages: all large blocks that nghttp2 allocates for a session, with twice the
  /// buffer for frames, which grows with the first frame.
  static let arenaSize = wholePages(92 * 1024)
  /// The size of the arena for OpenSSL's object for a connection: 7,608 bytes in 3.0.
  static let arenaSizeOfTLS = wholePages(8 * 1024)
  private static let arenasInSlab = UInt64.bitWidth

  private let size: Int
  private var slabSize: Int { size * Self.arenasInSlab }

  private static func wholePages(_ byteCount: Int) -> Int {
    let page = Int(getpagesize())
    return (byteCount + page - 1) / page * page
  }

  init(arenaSize: Int = ArenaSlabs.arenaSize) { size = arenaSize }

  deinit {
    state.withLock { state in
      for slab in state.slabs { free(slab.base) }
    }
  }

  /// A zeroed arena; `nil` if there is no memory for one.
  func take() -> Arena? {
    state.withLock { state in
      guard let slab = state.slabs.firstIndex(where: { $0.free != 0 }) ?? addSlab(&state),
        let base = state.slabs[slab].base
      else { return nil }
      let position = state.slabs[slab].free.trailingZeroBitCount
      state.slabs[slab].free &= ~(1 << UInt64(position))
      return Arena(base: base + position * size, size: size, slab: slab, position: position)
    }
  }

  /// Call on any thread. The contents are zeroed, so that no other session sees them.
  func giveBack(_ arena: Arena) {
    if !arena.discard() { memset(arena.base, 0, arena.size) }
    state.withLock { state in
      state.slabs[arena.slab].free |= 1 << UInt64(arena.position)
      guard state.slabs[arena.slab].free == .max,
        state.slabs.contains(where: { $0.free != 0 && $0.base != state.slabs[arena.slab].base })
      else { return }
      free(state.slabs[arena.slab].base)
      state.slabs[arena.slab] = Slab()
    }
  }

  /// The number of bytes that take no memory, because they were not written to since their pages were released. The
  /// system's allocator counts them as used.
  var untouchedByteCount: Int {
    state.withLock { state in
      let page = Int(getpagesize())
      var pages = [UInt8](repeating: 0, count: slabSize / page)
      return state.slabs.reduce(0) { sum, slab in
        guard let base = slab.base, mincore(base, slabSize, &pages) == 0 else { return sum }
        return sum + page * pages.count { $0 & 1 == 0 }
      }
    }
  }

  /// Returns the index of a new slab.
  private func addSlab(_ state: inout State) -> Int? {
    guard !state.isUnsupported else { return nil }
    var base: UnsafeMutableRawPointer?
    guard posix_memalign(&base, Int(getpagesize()), slabSize) == 0, let base else { return nil }
    #if os(Linux)
      // A page of 2 MB would be the memory of many sessions at once.
      madvise(base, slabSize, MADV_NOHUGEPAGE)
    #endif
    // All of it must be zeros, even if the allocator has used this memory before.
    base.storeBytes(of: 1, as: UInt8.self)
    guard madvise(base, slabSize, MADV_DONTNEED) == 0, base.load(as: UInt8.self) == 0 else {
      free(base)
      state.isUnsupported = true
      return nil
    }
    let slab = Slab(base: base, free: .max)
    guard let index = state.slabs.firstIndex(where: { $0.base == nil }) else {
      state.slabs.append(slab)
      return state.slabs.count - 1
    }
    state.slabs[index] = slab
    return index
  }
}

extension Loop {
  /// The bytes of arenas that take no memory, for programs that measure what is in use.
  package var untouchedByteCount: Int {
    blocks.arenas.untouchedByteCount + blocks.arenasOfTLS.untouchedByteCount
  }
}
