/// An observer that follows calls more closely than `CallObserver` lets it: a client's call through all its attempts, and a
/// handler in what it does. It can add headers to attempts, and give handlers a context that their own calls find.
///
/// Transports know tracers only. `PlainTracer` makes one of every other observer.
package protocol CallTracing: AnyObject, CallObserver {
  /// What follows the calls of a channel. Asked once for each channel.
  func channelTracer(target: String) -> any ChannelTracer

  /// What follows a call that a server has accepted. On the loop of the call's connection.
  func serverCall(_ call: ObservedCall) -> any ServerCallTracer
}

/// Makes what follows each call of a channel.
@usableFromInline package protocol ChannelTracer: AnyObject, Sendable {
  /// The context of the caller's task: what `callMade` would find there, for calls that are made later and elsewhere.
  var context: AnyObject? { get }

  /// A call is about to be made, in the caller's task or, with the `context` of that, elsewhere. It may be changed.
  func callMade(_ request: inout CallRequest, context: AnyObject?) -> (any ClientCallTracer)?
}

/// Follows a call of a client through its attempts. After `made`, used on the call's loop only.
@usableFromInline package protocol ClientCallTracer: AnyObject, Sendable {
  /// The call that may be cancelled.
  func made(_ call: any ByteCall)

  /// The call may have several attempts. Otherwise it ends with its first.
  func mayRepeat(hedging: Bool)

  /// The call had to wait until its channel's name was resolved, and goes on.
  func resolutionWasDelayed()

  /// An attempt starts; this many came before it.
  func attemptStarts(after previousAttempts: Int) -> any AttemptTracer

  /// The call has ended without an attempt, or has had several. Called at most once, last.
  func ended(_ status: GRPCStatus)
}

/// Follows a call on one side of a connection, on its loop.
@usableFromInline package protocol CallTracer: AnyObject, Sendable {
  /// Whether to call `messageSent` and `messageReceived`.
  var wantsMessages: Bool { get }

  /// A message was sent, of this size, and of this size on the wire, if it was compressed.
  func messageSent(_ byteCount: Int, compressed: Int?)

  /// A message was received, of this size after decompression.
  func messageReceived(_ byteCount: Int)

  /// The end. Called exactly once, last.
  func ended(_ end: ObservedEnd)
}

/// Follows one attempt of a client's call.
@usableFromInline package protocol AttemptTracer: CallTracer {
  /// Adds the headers of the attempt.
  func writeHeaders(_ add: (StaticString, RawSpan) -> Void)

  /// The attempt had to wait for a server or a connection, and goes on.
  func placementWasDelayed()

  /// The transport sends the attempt again, because no server has processed it. Returns what follows it from then on.
  func isSentAgain() -> any AttemptTracer
}

/// Follows one call of a server.
@usableFromInline package protocol ServerCallTracer: CallTracer {
  /// Whether handlers and interceptors find a context while `run` runs them.
  var givesContext: Bool { get }

  /// Runs `body`, which starts tasks, with the context of the call.
  func run<Result>(_ body: () -> Result) -> Result

  /// When the call's client stops waiting; `nil`: never. Called before `run`.
  func handlerStarts(deadline: ContinuousClock.Instant?)
}

/// Lets a plain observer follow calls: it sees each attempt as a call.
package final class PlainTracer: AttemptTracer, ServerCallTracer {
  private let observer: any CallObserver
  private let call: ObservedCall
  private let token: (any Sendable)?

  package init(_ observer: any CallObserver, _ call: ObservedCall) {
    self.observer = observer
    self.call = call
    token = observer.callStarted(call)
  }

  package var wantsMessages: Bool { false }
  package var givesContext: Bool { false }
  package func messageSent(_ byteCount: Int, compressed: Int?) {}
  package func messageReceived(_ byteCount: Int) {}
  package func writeHeaders(_ add: (StaticString, RawSpan) -> Void) {}
  package func placementWasDelayed() {}
  package func isSentAgain() -> any AttemptTracer { self }
  package func run<Result>(_ body: () -> Result) -> Result { body() }
  package func handlerStarts(deadline: ContinuousClock.Instant?) {}
  package func ended(_ end: ObservedEnd) { observer.callEnded(call, end, token) }
}

extension MethodDescriptor {
  /// The method that tracers see for calls of methods that a server does not have, because clients choose those names.
  package static let unknown = MethodDescriptor(service: "", method: "other", type: .unary)
}
