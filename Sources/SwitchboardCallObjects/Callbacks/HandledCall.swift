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

  private enum Phase: Sendable {
    case idle, open, finished, cancelled
  }

  private struct State: Sendable {
    var phase = Phase.idle
    var call: (any AsyncCall)?
    var writes: AsyncStream<Request>.Continuation?
    var unsent = 0
  }

  /// How many messages may wait to be sent.
  static var unsentLimit: Int { 16 * 1024 }

  private let queue: HandlerQueue<Response>
  /// How many more responses the handler has requested.
  private let credit: Credit
  private let make: @Sendable () throws(GRPCStatus) -> Started
  private let state = Locked(State())

  @usableFromInline
  init(
    _ handler: any ResponseHandler<Response>,
    _ options: CallOptions?,
    _ make: @escaping @Sendable () throws(GRPCStatus) -> Started
  ) {
    queue = HandlerQueue(handler)
    credit = Credit(options?.flowControlEnabled == true ? 0 : .max)
    self.make = make
  }

  /// Creates a call that passes its responses to `handler`. Without `request`, the requests are written later.
  @inlinable
  convenience init<RequestMarshaller: Marshaller<Request>, ResponseMarshaller: Marshaller<Response>>(
    _ call: MethodCall<RequestMarshaller, ResponseMarshaller>,
    _ request: Request?,
    _ handler: any ResponseHandler<Response>
  ) {
    self.init(handler, call.options) { () throws(GRPCStatus) in
      let type = call.method.descriptor.type
      guard type.streamsRequests == (request == nil) else { throw .wrongForm(call.method.descriptor) }
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

  deinit { state.withLock { $0.writes?.finish() } }

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
    credit.add(count)
  }

  // MARK: Delivering to the handler

  private func run(_ started: Started, _ writes: AsyncStream<Request>) {
    let queue = queue
    let credit = credit
    let writing = Task { [weak self] in
      for await message in writes {
        guard let requests = started.requests, (try? await requests.send(message)) != nil else { return }
        self?.state.withLock { $0.unsent -= 1 }
        await queue.notify { $0.wroteMessage() }
      }
      started.requests?.finish()
    }
    Task { [weak self] in
      if let headers = try? await started.call.initialMetadata {
        await queue.notify { $0.receivedInitialMetadata(headers) }
      }
      await Self.read(started, queue, credit)
      let status = await started.call.status
      let trailers = (try? await started.call.trailingMetadata) ?? HPACKHeaders()
      self?.state.withLock { state in
        state.writes?.finish()
        state.writes = nil
      }
      // The last `wroteMessage` comes before `closed`.
      await writing.value
      await queue.notify { $0.closed(trailingMetadata: trailers, error: status.isOk ? nil : status) }
    }
  }

  private static func read(_ started: Started, _ queue: HandlerQueue<Response>, _ credit: Credit) async {
    // A failed call ends even if the handler requests no more responses.
    let opening = Task {
      if await !started.call.status.isOk { credit.add(.max) }
    }
    defer { opening.cancel() }
    do {
      switch started.responses {
      case .one(let response):
        let message = try await response()
        try await credit.take()
        await queue.notify { $0.receivedMessage(message) }
      case .stream(let stream):
        for try await message in stream {
          try await credit.take()
          await queue.notify { $0.receivedMessage(message) }
        }
      }
    } catch {
      // The status reports the error.
      started.call.cancel()
    }
  }
}

extension GRPCStatus {
  static func misuse(_ what: String) -> GRPCStatus { GRPCStatus(code: .failedPrecondition, message: what) }

  static func tooManyUnsent(_ count: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message:
        "\(count) messages are waiting to be sent: write more after the handler's wroteMessage()"
    )
  }
}
