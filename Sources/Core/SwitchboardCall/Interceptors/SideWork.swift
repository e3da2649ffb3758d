// unsafe: touched on its call's loop alone

/// A chain, for an interceptor that queues messages and works on them outside of the chain. Everything but `room` is
/// used on the call's loop.
@usableFromInline
package protocol SideWorkChain: Sendable {
  /// Makes senders to the interceptor at `index` wait for `queue`, if it is given; `closed` is called when the chain
  /// closes.
  func join(at index: Int, queue: (() -> (any WriterRoom)?)?, closed: @escaping () -> Void)
  /// Waits until another message can be sent to `index`.
  func room(at index: Int) async throws
  /// An interceptor begins its work. The call lasts until the work is done.
  func sideWorkBegins()
  /// An interceptor has finished its work.
  func sideWorkIsDone()
}

extension InterceptorChain {
  @usableFromInline
  package func join(at index: Int, queue: (() -> (any WriterRoom)?)?, closed: @escaping () -> Void) {
    let sideWork = sideWork ?? SideWork()
    self.sideWork = sideWork
    sideWork.onClose.append(closed)
    if let queue { sideWork.gates.append((index, queue)) }
  }

  @usableFromInline
  package func room(at index: Int) async throws {
    try await eventLoop.submit { try self.gate(at: index) }.waitUntilWritable()
  }

  @usableFromInline
  package func sideWorkBegins() { sideWork?.workBegins() }
}

/// The state of chains with interceptors that name executors or intercept whole calls. It is a separate object because
/// few chains need it.
@usableFromInline
final class SideWork: @unchecked Sendable {
  // Sendable holds because it is used only on the call's loop.

  /// The executors of the interceptors; `nil` if none names one.
  @usableFromInline let executors: [InterceptorExecutors]?
  /// The interceptors that queue messages themselves, and where their writers wait.
  var gates: [(index: Int, queue: () -> (any WriterRoom)?)] = []
  /// How many parts are on executors, and how many whole-call interceptors are running.
  private var inProgress = 0
  /// Ends the call when nothing is in flight.
  private var whenDone: (() -> Void)?
  /// Called when the chain closes.
  var onClose: [() -> Void] = []
  /// How much more may be in flight before writers wait.
  let room = Credit(16)

  @usableFromInline
  init(executors: [InterceptorExecutors]? = nil) { self.executors = executors }

  var isIdle: Bool { inProgress == 0 }

  /// Whether the call ends when nothing is in flight. Nothing may then be added.
  var isEnding: Bool { whenDone != nil }

  func workBegins() {
    inProgress += 1
    room.spend()
  }

  func workIsDone() {
    inProgress -= 1
    room.add(1)
    guard isIdle, let work = whenDone.take() else { return }
    work()
  }

  /// Ends the call with `work` once nothing is in flight. Later ends are ignored.
  func endWhenDone(_ work: @escaping () -> Void) {
    guard !isIdle else { return work() }
    guard !isEnding else { return }
    whenDone = work
    room.close()
  }

  /// The queue of the first interceptor that has one, from `index` in steps of `step`.
  func gate(from index: Int, towards step: Int) -> (any WriterRoom)? {
    func distance(_ position: Int) -> Int { (position - index) * step }
    return gates.filter { distance($0.index) >= 0 }.min { distance($0.index) < distance($1.index) }?.queue()
  }

  @usableFromInline
  func close() {
    whenDone = nil
    let observers = onClose
    onClose = []
    gates = []
    for notify in observers { notify() }
    room.close()
  }
}
