// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall
import Synchronization

/// A meter's counts of the calls on one loop. Any thread may read them.
final class LoopMeter: @unchecked Sendable {
  // Sendable because only the loop writes and uses `cells`; the rest is atomic or locked.

  /// The loop's number.
  private let number: Int
  private let started = Atomic<UInt64>(0)
  /// The counts of successful calls, which most are. If it were optional, each call would retain it.
  private let okCells = LoopCells()
  @exclusivity(unchecked) private var countsOk = false
  /// The counts by status code.
  @exclusivity(unchecked) private var cells = [LoopCells?](repeating: nil, count: CallMeter.statusCount)
  /// The same counts, for other threads to read.
  private let shown = Locked<[Int: LoopCells]>([:])
  private let repetitions = Locked<CallMeter.Repetitions?>(nil)

  init(_ number: Int) {
    self.number = number
  }

  @inline(__always)
  func callStarted() { started.add(1) }

  /// The counts of calls with this status. `nil` if the status may not have a series of its own.
  @inline(__always)
  private func cells(_ code: GRPCStatus.Code, of meter: CallMeter) -> LoopCells? {
    cells[code.rawValue] ?? makeCells(code, of: meter)
  }

  @inline(never)
  private func makeCells(_ code: GRPCStatus.Code, of meter: CallMeter) -> LoopCells? {
    guard meter.mayHave(code) else { return nil }
    let made = code == .ok ? okCells : LoopCells()
    cells[code.rawValue] = made
    if code == .ok { countsOk = true }
    shown.withLock { $0[code.rawValue] = made }
    return made
  }

  /// An attempt or a server's call has ended. `whole` is the duration of the client's call, if that ends with the
  /// attempt.
  @inline(__always)
  func callEnded(_ end: CallMeter.End, whole: Int?, of meter: CallMeter) {
    if end.code == .ok, countsOk { return okCells.record(end, whole: whole) }
    if let cells = cells(end.code, of: meter) { return cells.record(end, whole: whole) }
    if let rest = meter.rest { rest.onLoop(number).callEnded(end, whole: whole, of: rest) }
  }

  /// A client's call has ended, but none of its attempts ended with it.
  func wholeCallEnded(_ code: GRPCStatus.Code, _ duration: Int, _ exemplar: Exemplar?, of meter: CallMeter) {
    if let cells = cells(code, of: meter) { return cells.record(whole: duration, exemplar) }
    if let rest = meter.rest { rest.onLoop(number).wholeCallEnded(code, duration, exemplar, of: rest) }
  }

  /// A call that had several attempts has ended. Zeros are not recorded.
  func wasRepeated(retries: Int, transparent: Int, hedges: Int, delay: Int) {
    self.repetitions.withLock { known in
      var repetitions = known ?? CallMeter.Repetitions()
      known = nil
      if retries > 0 { repetitions.retries.record(retries, .retries) }
      if transparent > 0 { repetitions.transparent.record(transparent, .transparentRetries) }
      if hedges > 0 { repetitions.hedges.record(hedges, .retries) }
      if delay > 0 { repetitions.delay.record(delay, .latency) }
      known = repetitions
    }
  }

  func read() -> (started: UInt64, cells: [Int: LoopCells], repetitions: CallMeter.Repetitions?) {
    (started.load(ordering: .relaxed), shown.withLock { $0 }, repetitions.withLock { $0 })
  }
}

/// Counts on one loop for a meter. It reserves the loop's number.
final class LoopCounter: Sendable {
  /// Whether calls are counted. If not, the methods do nothing.
  let isShown: Bool
  /// Decides which of the calls are worth a look.
  let called: CalledMethod
  private let meter: CallMeter
  private let loop: LoopMeter
  /// Retained so that no other loop gets the number in the meantime.
  private let number: LoopNumber?

  /// Counts nothing, for all methods and loops. A counter for each would take 1 KB.
  static let nothing = LoopCounter()

  init(_ meter: CallMeter, on number: LoopNumber) {
    isShown = true
    self.meter = meter
    called = meter.called
    self.number = number
    loop = meter.onLoop(number.value)
  }

  private init() {
    isShown = false
    meter = CallMeter([])
    called = .none
    number = nil
    loop = LoopMeter(0)
  }

  @inline(__always)
  func callStarted() { if isShown { loop.callStarted() } }

  @inline(__always)
  func callEnded(_ end: CallMeter.End, whole: Int?) {
    if isShown { loop.callEnded(end, whole: whole, of: meter) }
  }

  func wholeCallEnded(_ code: GRPCStatus.Code, _ duration: Int, _ exemplar: Exemplar?) {
    if isShown { loop.wholeCallEnded(code, duration, exemplar, of: meter) }
  }

  func wasRepeated(retries: Int, transparent: Int, hedges: Int, delay: Int) {
    guard isShown else { return }
    loop.wasRepeated(retries: retries, transparent: transparent, hedges: hedges, delay: delay)
  }
}
