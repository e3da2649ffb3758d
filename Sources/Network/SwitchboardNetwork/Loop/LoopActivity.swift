// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall
import Synchronization

/// What a loop does now, for the thread that looks after all loops. The loop only stores it, without waiting for anything.
package final class LoopActivity: @unchecked Sendable {
  // Sendable because the rest is only used on the loop.

  /// Changes with each step of the loop's work, such as each time that a handler goes on; odd while the loop works, even
  /// while it waits for events.
  @usableFromInline let step = Atomic<UInt64>(0)
  /// Whose work it is: zero for the loop's own; otherwise the mark of a method, which is odd, or the address of a task.
  @usableFromInline let work = Atomic<UInt>(0)
  /// The raw value of the phase of its turn.
  let phase = Atomic<UInt8>(0)
  /// Whether the watchdog sleeps until the loop works again.
  let wantsBell = Atomic(false)
  package let tasks = TaskMarks()
  @exclusivity(unchecked) private var isWaiting = true

  /// A part of a turn.
  package enum Phase: UInt8, Sendable, CaseIterable {
    /// Waits for sockets, reads from them, and passes on what was read.
    case events
    /// Runs the timers that are due.
    case timers
    /// Runs what tasks and other threads have given it.
    case jobs
    /// Writes the output of connections.
    case flushes
  }

  /// What another thread sees.
  package struct Sight: Equatable {
    let step: UInt64
    /// The number of the method; zero if it is not known.
    package let method: UInt
    package var phase = Phase.events

    package var isWorking: Bool { step & 1 == 1 }
  }

  // MARK: On the loop

  /// The loop waits for events from now on.
  @inline(__always)
  func wait() {
    isWaiting = true
    step.store((step.load(ordering: .relaxed) | 1) &+ 1, ordering: .relaxed)
  }

  /// An event has come, or there is none.
  @inline(__always)
  func wake() {
    guard isWaiting else { return }
    isWaiting = false
    step.store(step.load(ordering: .relaxed) | 1, ordering: .relaxed)
    if wantsBell.load(ordering: .relaxed) { ringBell() }
  }

  @inline(never)
  private func ringBell() {
    if wantsBell.exchange(false, ordering: .relaxed) { LoopWatchdog.shared.wake() }
  }

  /// A part of the turn begins.
  @inline(__always)
  func enter(_ phase: Phase) { self.phase.store(phase.rawValue, ordering: .relaxed) }

  /// What follows is the work of a method, or the loop's own. Returns whose the work was until now.
  @inlinable @inline(__always) @discardableResult
  package func begin(_ mark: UInt) -> UInt {
    let before = work.load(ordering: .relaxed)
    work.store(mark, ordering: .relaxed)
    step.store(step.load(ordering: .relaxed) &+ 2, ordering: .relaxed)
    return before
  }

  // MARK: On other threads

  package var sight: Sight {
    let step = step.load(ordering: .relaxed)
    let work = work.load(ordering: .relaxed)
    let phase = Phase(rawValue: phase.load(ordering: .relaxed)) ?? .events
    return Sight(step: step, method: (work & 1 == 1 ? work : tasks.mark(of: work)) >> 1, phase: phase)
  }

  func setBell(_ isWanted: Bool) { wantsBell.store(isWanted, ordering: .relaxed) }
}

/// Whose handlers run in which tasks, once they have suspended. It forgets some of them while hundreds are suspended, so
/// that the loop needs neither a lock nor memory for it.
package final class TaskMarks: @unchecked Sendable {
  // Sendable because all of it is atomic.
  private static let count = 1024
  private static let probes = 4
  /// The address of each task, and then its mark.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    slots = .allocate(capacity: 2 * Self.count)
    for index in 0..<2 * Self.count { (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: 2 * Self.count)
    slots.deallocate()
  }

  package static func address(of task: Task<Void, any Error>) -> UInt { unsafeBitCast(task, to: UInt.self) }

  /// Jobs that are steps of a task have its address.
  static func address(of job: UnownedJob) -> UInt { unsafeBitCast(job, to: UInt.self) }

  package func add(_ address: UInt, _ mark: UInt) {
    let slot = slot(of: 0, near: address) ?? Self.first(of: address)
    (slots + slot + 1).pointee.store(mark, ordering: .relaxed)
    (slots + slot).pointee.store(address, ordering: .releasing)
  }

  package func remove(_ address: UInt) {
    if let slot = slot(of: address, near: address) { (slots + slot).pointee.store(0, ordering: .relaxed) }
  }

  func mark(of address: UInt) -> UInt {
    guard address != 0, let slot = slot(of: address, near: address) else { return 0 }
    return (slots + slot + 1).pointee.load(ordering: .relaxed)
  }

  private static func first(of address: UInt) -> Int {
    // Addresses are multiples of 16.
    Int(((address >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 54) * 2
  }

  private func slot(of key: UInt, near address: UInt) -> Int? {
    var slot = Self.first(of: address)
    for _ in 0..<Self.probes {
      if (slots + slot).pointee.load(ordering: .acquiring) == key { return slot }
      slot = (slot + 2) % (2 * Self.count)
    }
    return nil
  }
}
