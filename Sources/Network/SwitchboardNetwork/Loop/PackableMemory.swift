// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

/// Memory in an arena, which is packed when it has not been used for a while.
///
/// ```
///   awake ──unused for a period──> idle ──unused for another──> packed
///     ^────────────────use──────────┴──────────use────────────────┘
/// ```
/// Its contents do not change: they are not used while they are packed, and are unpacked before the next use.
package struct PackableMemory {
  package private(set) var isAwake = true
  /// `nil` if there is nothing to pack.
  package let arena: Arena?
  private let slabs: ArenaSlabs?
  private var copy: UnsafeMutableRawPointer?
  /// Packs the memory; set as long as the connection is open.
  fileprivate(set) var sweep: Sweep?
  /// Whether the consumed bytes of the arena may be dropped now.
  package var mayDropConsumed = false
  /// The index of the owner in `sweep`; `nil` while it is packed.
  var index: Int?

  package init(in slabs: ArenaSlabs?) {
    self.slabs = slabs
    arena = slabs?.take()
  }

  /// Call once, on any thread, when it is empty.
  package func end() {
    if let arena { slabs?.giveBack(arena) }
  }

  package mutating func wake() {
    isAwake = true
    guard let copy, let arena else { return }
    arena.unpack(copy)
    self.copy = nil
  }

  /// Called once per period until the memory is packed: an awake memory becomes idle, an idle one is packed. Returns
  /// whether it must be called again.
  mutating func age() -> Bool {
    guard isAwake else {
      pack()
      return false
    }
    isAwake = false
    return true
  }

  /// Packs the memory at once, if there is memory for the copy.
  mutating func pack() {
    isAwake = false
    if copy == nil { copy = arena?.pack(droppingConsumed: mayDropConsumed) }
  }

  var isPacked: Bool { copy != nil }
}

/// An owner of such memory, which wakes it before it uses the contents.
package protocol Packable: AnyObject {
  var memory: PackableMemory { get set }
  /// Called when the memory was packed, to free what the owner can do without.
  func memoryWasPacked()
}

extension Packable {
  @inline(never)
  package func wake() {
    memory.wake()
    if memory.index == nil { memory.sweep?.add(self) }
  }

  /// Called when the connection starts, and with `nil` when it closes.
  package func join(_ sweep: Sweep?) {
    memory.sweep?.remove(self)
    memory.sweep = sweep
    sweep?.add(self)
  }

  /// Packs the memory at once.
  func pack() {
    memory.sweep?.remove(self)
    memory.pack()
    memoryWasPacked()
  }

  var isPacked: Bool { memory.isPacked }
}
