// unsafe: the method of an observed call, which its head retains

import SwitchboardCall

/// What follows a call on the server: a tracer of its own, or that of its connection, or an observer.
///
/// ```
///   not followed ──its method is known──> followed, leanly or message by message
/// ```
/// It is not written after the handler starts, which may read it on any thread.
struct ServerTrace {
  /// Follows the call, if it needs that. It remains set when the call has ended, for a handler on another thread.
  private(set) var tracer: (any CallTracer)?
  var stamp = CallStamp()
  /// What the tracer wants: to ask it each time would retain it.
  private(set) var reportsMessages = false
  /// Whether the tracer makes a context for the handler.
  private(set) var hasContext = false
  /// The method that the observer was told. The call's head retains it, unless it is the unknown one.
  private(set) var method: Unmanaged<MethodDescriptor>?

  /// An observer that does not trace follows the call.
  mutating func follow(_ call: ObservedCall, for observer: any CallObserver) {
    tracer = PlainTracer(observer, call)
  }

  /// The connection's tracer follows the call, with a tracer for this call if it needs one. Returns whether messages are
  /// to be reported from now on.
  @inline(__always)
  mutating func follow(
    _ method: MethodDescriptor,
    with tracer: consuming (any CallTracer)?,
    givesContext: Bool
  ) -> Bool {
    self.method = .passUnretained(method)
    self.tracer = tracer
    hasContext = givesContext
    guard !stamp.isLean else { return false }
    reportsMessages = self.tracer?.wantsMessages ?? false
    return reportsMessages
  }

  /// Notifies a context that its call has ended, unless it is notified as the tracer.
  func endContext(_ context: any CallTracer) {
    guard context !== tracer else { return }
    context.ended(ObservedEnd(status: .callGone, sent: MessageTotals(), received: MessageTotals()), stamp)
  }
}
