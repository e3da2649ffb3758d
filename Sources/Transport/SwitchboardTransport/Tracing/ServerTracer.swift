import SwitchboardCall

/// Follows the calls that a server accepts on one loop, or creates their tracers, and gives their handlers a context that
/// the calls of these inherit. It is used only on this loop, except for `makeContext`.
package protocol ServerTracer: AnyObject {
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
  ) -> (any CallTracer)?

  /// A call has ended that this one follows.
  func callEnded(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    _ headers: @autoclosure () -> HPACKHeaders
  )

  /// What is to learn of the stages of a call, whose stamp says that there is one.
  func stageWatch(of tracer: (any CallTracer)?) -> (any StageWatch)?

  /// Makes the context of a handler and of interceptors, when it is first needed, on any thread. It is the call's own
  /// tracer, if there is one.
  func makeContext(
    of tracer: (any CallTracer)?,
    _ headers: HPACKHeaders,
    _ taken: SpanIdentity,
    _ stamp: CallStamp,
    _ end: CallDeadline?
  ) -> any CallTracer & ContextSource
}

extension MethodDescriptor {
  /// The method that tracers see instead of methods that a server does not have, whose names are chosen by clients.
  package static let unknown = MethodDescriptor(service: "", method: "other", type: .unary)
}
