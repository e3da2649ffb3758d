// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs; its one end
//   resumes the caller

/// Not nested in the class, where it would be generic and compared by code that is not specialized.
enum ClientChainPhase { case idle, gathering, live, over }

/// The chain of interceptors of one call on the client, between the caller and the transport.
///
/// It turns the parts that leave it for the transport into calls:
/// ```
///   idle ──metadata──> gathering ──end, or at once when requests stream──> live ──status──> over
/// ```
/// When a call is over, an interceptor that withheld the status may send the call again. Parts of the old call that are
/// still on an executor or in a writer are then dropped.
///
/// The chain is open until an `end` reaches the caller; later sends fail their promises. The chain and its transport's
/// end are one object, to save allocations.
@usableFromInline
final class ClientChain<Request: Sendable, Response: Sendable>:
  ChainState<ClientInterceptor<Request, Response>>, InterceptorChain, @unchecked Sendable
{
  // Sendable holds because everything except `settings`, which is locked, is used only on the event loop; the methods
  // hop to it. Unchecked exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias Interceptor = ClientInterceptor<Request, Response>
  @usableFromInline typealias ToCaller = (GRPCClientResponsePart<Response>) -> Void

  @usableFromInline let transport: CallEngine
  @usableFromInline let method: MethodDescriptor
  @usableFromInline let settings: SharedCallSettings
  @usableFromInline let codec: ClientCodec<Request, Response>
  /// The context of the caller's task.
  @usableFromInline let callerContext: (any ContextSource)?

  // The caller.
  @exclusivity(unchecked) @usableFromInline var hasStarted = false
  @exclusivity(unchecked) @usableFromInline var toCaller: ToCaller?
  /// The caller of a call with one response, instead of `toCaller`.
  @exclusivity(unchecked) @usableFromInline var caller: UnsafeContinuation<Response, any Error>?
  /// How many responses have arrived for `caller`; `response` is the first.
  @exclusivity(unchecked) @usableFromInline var responseCount = 0

  // The call on the transport.
  @exclusivity(unchecked) var phase = ClientChainPhase.idle
  @exclusivity(unchecked) var call: (any ByteCall)?
  @exclusivity(unchecked) @usableFromInline var contentSubtype: ContentSubtype
  /// The format that the options choose, if it is not the method's own.
  @exclusivity(unchecked) @usableFromInline var chosen: ChosenFormat<Request, Response>?
  /// The metadata with which the caller starts the call; later, the metadata that has left the chain.
  @exclusivity(unchecked) @usableFromInline var metadata: HPACKHeaders
  @exclusivity(unchecked) var message: MessageBuffer?
  @exclusivity(unchecked) @usableFromInline var rare: RareCallState?

  // The last field, because the offsets of later fields would depend on the type.
  @exclusivity(unchecked) @usableFromInline var response = InlineSlot<Response>()

  @inlinable @inline(__always)
  init(
    _ engine: CallEngine,
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ interceptors: consuming [Interceptor],
    codec: ClientCodec<Request, Response>,
    contentSubtype: ContentSubtype
  ) {
    let loopAddress = engine.eventLoop.address
    self.method = method
    self.codec = codec
    self.contentSubtype = contentSubtype
    var metadata = options?.initialMetadata ?? HPACKHeaders()
    let context = engine.callerContext
    settings = engine.settings(for: options, &metadata, in: context)
    callerContext = context
    self.metadata = metadata
    // Last, so that the reference is handed over and not counted.
    transport = engine
    super.init(interceptors, at: loopAddress)
  }

  deinit { response.clear() }

  @inlinable
  var eventLoop: any EventLoop { transport.eventLoop }

  @inlinable @inline(__always)
  static var towardsTransport: Int { 1 }

  // MARK: The caller's end

  /// Starts a call with one request, from any thread.
  @inlinable
  func start(_ request: consuming Request) {
    guard isHere else {
      let request = request
      return startOnLoop { self.start(request) }
    }
    guard begin() else { return }
    let hasEntered = interceptors.enter()
    send(.metadata(metadata), promise: nil, to: applicationEnd)
    send(.message(consume request, MessageMetadata()), promise: nil, to: applicationEnd)
    send(.end, promise: nil, to: applicationEnd)
    leave(hasEntered)
    watchDeadline()
  }

  /// Starts a call with one request and waits for its one response, which is kept in the chain to save an allocation.
  @inlinable
  nonisolated(nonsending) func response(to request: Request) async throws -> Response {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        caller = continuation
        start(request)
      }
    } onCancel: {
      cancelByCaller()
    }
  }

  /// Starts a call that streams its requests, from any thread.
  @inlinable
  func startStream() {
    guard isHere else { return startOnLoop { self.startStream() } }
    guard begin() else { return }
    sendFirst(.metadata(metadata))
    watchDeadline()
  }

  /// Starts the call on its loop, in the context of the caller's task.
  @usableFromInline
  func startOnLoop(_ start: @escaping @Sendable () -> Void) {
    eventLoop.execute { TaskContext.with(self.callerContext, start) }
  }

  /// Begins the call. Returns `false` if the call was already cancelled, and ends it.
  @inlinable
  func begin() -> Bool {
    hasStarted = true
    guard let reason else { return true }
    deliver(.end(reason, HPACKHeaders()))
    return false
  }

  /// Makes the writer of streamed requests.
  @inlinable
  func makeWriter() -> PartWriter<Request> {
    PartWriter(eventLoop) {
      try self.gate(at: self.applicationEnd)
    } send: { request, metadata in
      self.send(.message(request, metadata), promise: nil, to: self.applicationEnd)
    }
  }

  /// Ends the requests.
  @inlinable
  func finishRequests() { send(.end, promise: nil, to: applicationEnd) }

  /// Passes a part that has left the chain to the caller.
  @inlinable @inline(__always)
  func deliver(_ part: GRPCClientResponsePart<Response>) {
    switch part {
    case .message where caller == nil, .metadata:
      toCaller?(part)
    case .message(let message):
      responseCount += 1
      response.put(message)
    case .end(let status, _):
      let (caller, toCaller) = (caller, toCaller.take())
      self.caller = nil
      close()
      if let caller { resume(caller, status) } else { toCaller?(part) }
    }
  }

  @inlinable @inline(__always)
  func resume(_ caller: UnsafeContinuation<Response, any Error>, _ status: GRPCStatus) {
    if !status.isOk {
      caller.resume(throwing: status)
    } else if responseCount == 1, let response = response.take() {
      caller.resume(returning: consume response)
    } else {
      caller.resume(throwing: responseCount == 0 ? GRPCStatus.responseNotPassedOn : .tooManyMessages)
    }
  }

  @inlinable
  func deliver(failure: any Error) { deliver(.end(GRPCStatus(describing: failure), HPACKHeaders())) }
}
