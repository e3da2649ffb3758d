import SwitchboardCall

/// A call whose responses go to a handler: the common part of `UnaryCall`, `StreamingCall` and `Call`, built on call
/// objects.
///
/// ```
///   idle ──start──> open ──finish──> finished
/// ```
/// Cancellation leads from each phase to cancelled. A method called in the wrong phase throws `FAILED_PRECONDITION`.
@usableFromInline
final class HandledCall<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline
  struct Started: Sendable {
    let call: any AsyncCall
    /// The writer of requests; `nil` if the call has its one request.
    let requests: RequestStreamWriter<Request>?
    let responses: Responses

    @usableFromInline
    enum Responses: Sendable {
      case one(@Sendable () async throws -> Response)
      case stream(ResponseStream<Response>)
    }

    @usableFromInline
    init(_ call: any AsyncCall, _ requests: RequestStreamWriter<Request>?, _ responses: Responses) {
      self.call = call
      self.requests = requests
      self.responses = responses
    }
  }

  enum Phase: Sendable {
    case idle, open, finished, cancelled
  }

  struct State: Sendable {
    var phase = Phase.idle
    var call: (any AsyncCall)?
    var requests: RequestStreamWriter<Request>?
    var writes: AsyncStream<Request>.Continuation?
    var unsent = 0
  }

  /// How many messages may wait to be sent.
  static var unsentLimit: Int { 16 * 1024 }

  let queue: HandlerQueue<Response>
  let demand: ResponseDemand
  let limits: UnreadLimits
  private let make: @Sendable () throws(GRPCStatus) -> Started
  private let logger: Logger
  private let path: String
  let state = Locked(State())

  @usableFromInline
  init(
    _ handler: any ResponseHandler<Response>,
    _ options: CallOptions?,
    _ method: MethodDescriptor,
    _ logger: Logger,
    limits: UnreadLimits,
    _ make: @escaping @Sendable () throws(GRPCStatus) -> Started
  ) {
    queue = HandlerQueue(handler)
    demand = ResponseDemand(isLimited: options?.flowControlEnabled == true)
    self.limits = limits
    self.make = make
    self.logger = logger
    path = method.path
  }

  /// Creates a call that passes its responses to `handler`. Without `request`, the requests are written later.
  @inlinable
  convenience init<RequestMarshaller: Marshaller<Request>, ResponseMarshaller: Marshaller<Response>>(
    _ call: MethodCall<RequestMarshaller, ResponseMarshaller>,
    _ request: Request?,
    _ handler: any ResponseHandler<Response>
  ) {
    let method = call.method.descriptor
    self.init(handler, call.options, method, call.logger, limits: call.unreadLimits) {
      () throws(GRPCStatus) in
      let type = method.type
      guard type.streamsRequests == (request == nil) else { throw .wrongForm(method) }
      switch (request, type.streamsResponses) {
      case (let request?, false):
        let call = call.makeUnaryCall(request)
        return Started(call, nil, .one { try await call.response })
      case (nil, false):
        let call = call.makeClientStreamingCall()
        return Started(call, call.requestStream, .one { try await call.response })
      case (let request?, true):
        let call = call.makeServerStreamingCall(request)
        return Started(call, nil, .stream(call.responseStream))
      case (nil, true):
        let call = call.makeBidirectionalStreamingCall()
        return Started(call, call.requestStream, .stream(call.responseStream))
      }
    }
  }

  deinit {
    let state = state.withLock { $0 }
    if state.phase == .idle { wasNeverStarted() }
    // Those that were written may not be all.
    if state.phase == .open { state.requests?.drop() }
    demand.end(.releasedUnread)
    state.writes?.finish()
  }

  private func wasNeverStarted() {
    logger.log(.warning, "a call was released that was never started: call start()", ["method": path])
    queue.notifyLater { $0.closed(trailingMetadata: HPACKHeaders(), error: .neverStarted) }
  }

  // MARK: Starting and ending

  @usableFromInline
  func start() throws(GRPCStatus) {
    let (writes, writer) = AsyncStream<Request>.makeStream()
    let refusal: GRPCStatus? = state.withLock { state in
      switch state.phase {
      case .idle:
        state.phase = .open
        state.writes = writer
        return nil
      case .open, .finished: return .misuse("the call was started twice")
      case .cancelled: return .misuse("the call was cancelled before it was started")
      }
    }
    if let refusal { throw refusal }
    let started: Started
    do {
      started = try make()
    } catch {
      state.withLock { $0.phase = .cancelled }
      throw error
    }
    let isCancelled = state.withLock { state in
      state.call = started.call
      state.requests = started.requests
      return state.phase == .cancelled
    }
    if isCancelled { started.call.cancel() }
    run(started, writes)
  }

  @usableFromInline
  func cancel() {
    let (call, wasIdle) = state.withLock { state in
      let wasIdle = state.phase == .idle
      state.phase = .cancelled
      return (state.call, wasIdle)
    }
    call?.cancel()
    demand.end(.cancelledByCaller)
    if wasIdle {
      queue.notifyLater { $0.closed(trailingMetadata: HPACKHeaders(), error: .cancelledByCaller) }
    }
  }

  // MARK: Messages

  @usableFromInline
  func write(_ message: Request) throws(GRPCStatus) {
    let refusal: GRPCStatus? = state.withLock { state in
      switch state.phase {
      case .idle: return .misuse("a message was written before the call was started")
      case .finished: return .misuse("a message was written after the last one")
      case .cancelled: return .misuse("a message was written after the call was cancelled")
      case .open: break
      }
      guard state.unsent < Self.unsentLimit else { return .tooManyUnsent(state.unsent) }
      // Without a writer, the call has ended. The handler is notified of that.
      guard let writes = state.writes else { return nil }
      if case .enqueued = writes.yield(message) { state.unsent += 1 }
      return nil
    }
    if let refusal { throw refusal }
  }

  @usableFromInline
  func finish() throws(GRPCStatus) {
    let refusal: GRPCStatus? = state.withLock { state in
      switch state.phase {
      case .idle: return .misuse("the call was finished before it was started")
      case .finished: return .misuse("the call was finished twice")
      case .cancelled: return .misuse("the call was finished after it was cancelled")
      case .open: break
      }
      state.phase = .finished
      state.writes?.finish()
      return nil
    }
    if let refusal { throw refusal }
  }

  @usableFromInline
  func receiveNextMessages(_ count: Int) throws(GRPCStatus) {
    guard count >= 0 else {
      throw GRPCStatus(code: .invalidArgument, message: "cannot request \(count) messages")
    }
    if state.withLock({ $0.phase == .idle }) {
      throw .misuse("messages were requested before the call was started")
    }
    demand.add(count)
  }
}

extension GRPCStatus {
  static let neverStarted =
    misuse("the call was released before it was started: call start(), which sends it")

  static let releasedUnread = misuse(
    "the call was released while responses \(ResponseDemand.clause): keep the call, and ask for them"
  )

  static func misuse(_ what: String) -> GRPCStatus { GRPCStatus(code: .failedPrecondition, message: what) }

  static func tooManyUnsent(_ count: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message:
        "\(count) messages are waiting to be sent: write more after the handler's wroteMessage()"
    )
  }
}
