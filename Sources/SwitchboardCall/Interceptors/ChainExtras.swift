/// What few chains have: interceptors that name executors, or that see calls whole. An object, so that the others neither
/// set it up nor clear it away.
@usableFromInline
final class ChainExtras {
  /// Where interceptors want their parts; `nil` where none names an executor.
  @usableFromInline let hops: [InterceptorHops]?
  /// Interceptors that take messages in themselves, and make writers wait where they are behind.
  var gates = InterceptorGates()
  /// What is to be told that the chain is closed.
  private var onClose: [() -> Void] = []

  @usableFromInline
  init(hops: [InterceptorHops]? = nil) {
    self.hops = hops
  }

  func whenClosed(_ tell: @escaping () -> Void) { onClose.append(tell) }

  @usableFromInline
  func close() {
    let told = onClose
    onClose = []
    gates = InterceptorGates()
    for tell in told { tell() }
  }
}
