/// What few chains have: interceptors that name executors, or that see calls whole. An object, so that the others neither
/// set it up nor clear it away.
@usableFromInline
final class SideWork: @unchecked Sendable {
  // Sendable holds because it is touched on the call's loop alone.

  /// Where interceptors want their parts; `nil` where none names an executor.
  @usableFromInline let executors: [InterceptorExecutors]?
  /// Interceptors that take messages in themselves, and make writers wait where they are behind.
  var gates = InterceptorGates()
  /// Parts that interceptors have on executors of their own, and whole-call interceptors at work.
  private var underWay = 0
  /// What ends the call when nothing is under way.
  private var whenAtRest: (() -> Void)?
  /// Writers that wait until less is under way.
  private var writers: [UnsafeContinuation<Void, Never>] = []
  /// What is to be told that the chain is closed.
  private var onClose: [() -> Void] = []
  private var isClosed = false

  /// How much may be under way before writers wait.
  private static let limit = 16

  @usableFromInline
  init(executors: [InterceptorExecutors]? = nil) {
    self.executors = executors
  }

  var isAtRest: Bool { underWay == 0 }

  /// Whether the call ends when nothing is under way: then nothing is to be added.
  var isEnding: Bool { whenAtRest != nil }

  /// Whether writers are to wait.
  private var isBusy: Bool { !isClosed && !isEnding && underWay >= Self.limit }

  func workBegins() { underWay += 1 }

  func workIsDone() {
    underWay -= 1
    if !isBusy { resumeWriters() }
    guard isAtRest, let work = whenAtRest.take() else { return }
    work()
  }

  /// Ends the call so once nothing is under way. The first end counts.
  func endAtRest(_ work: @escaping () -> Void) {
    guard !isAtRest else { return work() }
    guard !isEnding else { return }
    whenAtRest = work
    resumeWriters()
  }

  /// A gate that writers come to once executors have caught up.
  func behindExecutors(_ gate: InterceptorGate, on eventLoop: any EventLoop) -> InterceptorGate {
    guard isBusy else { return gate }
    return InterceptorGate {
      await withUnsafeContinuation { writer in eventLoop.execute { self.wait(writer) } }
      try await gate.waitUntilWritable()
    }
  }

  private func wait(_ writer: UnsafeContinuation<Void, Never>) {
    if isBusy { writers.append(writer) } else { writer.resume() }
  }

  private func resumeWriters() {
    let waiting = writers
    writers = []
    for writer in waiting { writer.resume() }
  }

  func whenClosed(_ tell: @escaping () -> Void) { onClose.append(tell) }

  @usableFromInline
  func close() {
    isClosed = true
    whenAtRest = nil
    let told = onClose
    onClose = []
    gates = InterceptorGates()
    for tell in told { tell() }
    resumeWriters()
  }
}
