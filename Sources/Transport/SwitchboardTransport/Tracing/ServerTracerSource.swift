import SwitchboardCall

/// An observer that follows the work of handlers, and can give them a context that their calls inherit. Transports wrap
/// any other observer in a `PlainTracer`.
package protocol ServerTracerSource: AnyObject, CallObserver {
  /// Called once for each server that has the observer, when it is made.
  func serverWasMade()

  /// Creates the tracer of calls that a server accepts on this loop. Called once for each connection.
  func serverTracer(on loop: any EventLoop) -> any ServerTracer
}

/// Creates the tracers of calls that a server accepts on one loop, and is otherwise used only on this loop. Makes the
/// contexts of calls that have no tracer.
package protocol ServerTracer: ContextMaker {
  /// Whether the calls have a context. If so, what `traceparent` says may be taken out of the headers, and passed apart.
  var givesContext: Bool { get }

  /// A call was accepted. Calls with the same number have the same headers. Returns its tracer. `nil` if this one follows
  /// it: then nothing is reported but its end, if the stamp wants that.
  func callStarted(
    _ method: MethodDescriptor,
    _ headers: @autoclosure () -> HPACKHeaders,
    number: Int?,
    _ taken: SpanIdentity,
    _ stamp: inout CallStamp
  ) -> (any ServerCallTracer)?

  /// A call has ended that this one follows.
  func callEnded(_ end: ObservedEnd, _ method: MethodDescriptor, _ stamp: CallStamp)
}

/// Follows calls of a server. The context that it makes is the tracer itself, or one more.
package protocol ServerCallTracer: CallTracer, ContextMaker {}

/// Makes the context of a handler and of interceptors, when it is first needed, on any thread.
package protocol ContextMaker: AnyObject {
  func makeContext(_ headers: HPACKHeaders, _ taken: SpanIdentity, _ stamp: CallStamp, _ end: CallDeadline?)
    -> any ServerCallTracer & ContextSource
}

extension MethodDescriptor {
  /// The method that tracers see instead of methods that a server does not have, whose names are chosen by clients.
  package static let unknown = MethodDescriptor(service: "", method: "other", type: .unary)
}
