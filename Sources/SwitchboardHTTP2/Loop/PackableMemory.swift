/// Memory in an arena, which is packed when nobody has used it for a while.
///
/// ```
///   awake ──nobody uses it for a while──> drowsy ──nor for another while──> packed
///     ^──────────────somebody uses it───────┴──────────────────────────────────┘
/// ```
/// What lies in it does not notice: while it is packed nothing runs there, and before that changes all is as it was.
struct PackableMemory {
  private(set) var isAwake = true
  /// `nil`: there is nothing to pack.
  let arena: Arena?
  private let slabs: ArenaSlabs?
  private var copy: UnsafeMutableRawPointer?
  /// What packs it; set as long as the connection is open.
  fileprivate(set) var sweep: Sweep?
  /// Whether what was used up of the arena may be dropped now.
  var hasUsedUp = false
  /// Where `sweep` has its owner, which it only visits while that is not packed.
  var place: Int?

  init(in slabs: ArenaSlabs?) {
    self.slabs = slabs
    arena = slabs?.take()
  }

  /// Call once, on any thread, when nothing is left in it.
  func end() {
    if let arena { slabs?.giveBack(arena) }
  }

  mutating func wake() {
    isAwake = true
    guard let copy, let arena else { return }
    arena.unpack(copy)
    self.copy = nil
  }

  /// Called regularly while it is awake or drowsy. Returns `false` when there is no more to do.
  mutating func rest() -> Bool {
    guard isAwake else {
      pack()
      return false
    }
    isAwake = false
    return true
  }

  /// Packs it at once, if the system has memory for that.
  mutating func pack() {
    isAwake = false
    if copy == nil { copy = arena?.pack(droppingUsedUp: hasUsedUp) }
  }

  var isPacked: Bool { copy != nil }
}

/// An owner of such memory, which has to be awake before its owner uses what lies in it.
protocol Packable: AnyObject {
  var memory: PackableMemory { get set }
}

extension Packable {
  @inline(never)
  func wake() {
    memory.wake()
    if memory.place == nil { memory.sweep?.add(self) }
  }

  /// Called when the connection starts, and with `nil` when it closes.
  func join(_ sweep: Sweep?) {
    memory.sweep?.remove(self)
    memory.sweep = sweep
    sweep?.add(self)
  }

  /// Packs it at once.
  func pack() {
    memory.sweep?.remove(self)
    memory.pack()
  }

  var isPacked: Bool { memory.isPacked }
}
