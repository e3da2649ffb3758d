/// What few chains have: interceptors that name executors, or that see calls whole. An object, so that the others neither
/// set it up nor clear it away.
@usableFromInline
final class SideWork: @unchecked Sendable {
  // Sendable holds because it is touched on the call's loop alone.

  /// Where interceptors want their parts; `nil` where none names an executor.
  @usableFromInline let executors: [InterceptorExecutors]?
  /// The interceptors that take messages in themselves, in their order, and where writers wait for them.
  var gates: [(index: Int, queue: () -> (any WriterRoom)?)] = []
  /// Parts that interceptors have on executors of their own, and whole-call interceptors at work.
  private var underWay = 0
  /// What ends the call when nothing is under way.
  private var whenAtRest: (() -> Void)?
  /// What is to be told that the chain is closed.
  private var onClose: [() -> Void] = []
  /// How much more may be under way before writers wait.
  let room = Credit(16)

  @usableFromInline
  init(executors: [InterceptorExecutors]? = nil) {
    self.executors = executors
  }

  var isAtRest: Bool { underWay == 0 }

  /// Whether the call ends when nothing is under way: then nothing is to be added.
  var isEnding: Bool { whenAtRest != nil }

  func workBegins() {
    underWay += 1
    room.spend()
  }

  func workIsDone() {
    underWay -= 1
    room.add(1)
    guard isAtRest, let work = whenAtRest.take() else { return }
    work()
  }

  /// Ends the call so once nothing is under way. The first end counts.
  func endAtRest(_ work: @escaping () -> Void) {
    guard !isAtRest else { return work() }
    guard !isEnding else { return }
    whenAtRest = work
    room.close()
  }

  /// The first interceptor that takes messages in itself, at this place or behind it on the way that `step` goes.
  func gate(from index: Int, towards step: Int) -> (any WriterRoom)? {
    func distance(_ place: Int) -> Int { (place - index) * step }
    return gates.filter { distance($0.index) >= 0 }.min { distance($0.index) < distance($1.index) }?.queue()
  }

  func whenClosed(_ tell: @escaping () -> Void) { onClose.append(tell) }

  @usableFromInline
  func close() {
    whenAtRest = nil
    let told = onClose
    onClose = []
    gates = []
    for tell in told { tell() }
    room.close()
  }
}
