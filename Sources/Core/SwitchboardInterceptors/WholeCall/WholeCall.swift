// unsafe: touched on its call's loop alone; continuations are taken out by whoever resumes them

import SwitchboardCall

/// One call of a whole-call interceptor: collects incoming parts, runs `intercept`, and turns its result into parts.
///
/// ```
///   idle ──metadata (streams), end (unary)──> running ──intercept returned or threw──> over
/// ```
final class WholeCall<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because everything except the queues is used only on the event loop; `next` hops to it.

  typealias Ports = WholeCallPorts<Request, Response>
  typealias RunUnary = @Sendable (WholeCall) async throws -> UnaryResponse<Response>
  typealias RunStreamed = @Sendable (WholeCall) async throws -> StreamedResponse<Response>

  let ports: Ports
  private let runUnary: RunUnary
  private let runStreamed: RunStreamed
  private(set) var metadata = HPACKHeaders()
  private var message: Request?
  let requests: PartQueue<Request>
  var requestPromises = PartPromises()
  private var responsePromises = PartPromises()
  var attempt: WholeCallAttempt<Request, Response>?
  /// How the last attempt failed. If `intercept` rethrows the status, the trailers are sent too.
  var lastFailure: (status: GRPCStatus, trailers: HPACKHeaders)?
  private var task: Task<Void, Never>?
  private(set) var isOver = false
  /// Why the chain has cancelled the call.
  private(set) var cancellation: GRPCStatus?
  /// Whether the rest of the chain has not yet ended an attempt that was given up. How that ends is not how the call ends:
  /// `intercept` decides.
  private var hasLeftBehind = false
  /// Called once, when nothing of the call is running any more.
  var onEnd: (() -> Void)?

  init(_ ports: Ports, unary: @escaping RunUnary, streamed: @escaping RunStreamed) {
    self.ports = ports
    runUnary = unary
    runStreamed = streamed
    requests = PartQueue(demand: ports.demandRequests)
  }

  var request: UnaryRequest<Request>? { message.map { UnaryRequest(metadata: metadata, message: $0) } }

  var streamedRequest: StreamedRequest<Request> {
    StreamedRequest(metadata: metadata, messages: MessageStream(RequestStream(requests)))
  }

  // MARK: Incoming parts

  func take(request part: GRPCServerRequestPart<Request>, _ promise: EventLoopPromise<Void>?) {
    requestPromises.take(promise, of: part.kind, streams: ports.type != .unary)
    switch part {
    case .metadata(let headers):
      metadata = headers
      guard ports.type != .unary else { return }
      run { call in try await call.runStreamed(call) }
      requests.open()
    case .message(let message):
      if ports.type != .unary { requests.push(message) } else { self.message = message }
    case .end:
      if ports.type != .unary { requests.finish(nil) } else { runUnaryCall() }
    }
  }

  func take(response part: GRPCClientResponsePart<Response>, _ promise: EventLoopPromise<Void>?) {
    responsePromises.take(promise, of: part.kind, streams: ports.type != .unary)
    attempt?.take(part, of: self)
  }

  // MARK: Running

  private func runUnaryCall() {
    guard message != nil else { return end(.missingRequest, HPACKHeaders()) }
    start { call in
      let response = try await call.runUnary(call)
      call.onLoop { call in
        call.send(response.metadata)
        call.ports.sendResponse(.message(response.message), call.responsePromises.takeMessage())
        call.end(.ok, response.trailers)
      }
    }
  }

  private func run(_ streamed: @escaping RunStreamed) {
    start { call in
      let response = try await streamed(call)
      call.onLoop { $0.send(response.metadata) }
      for try await message in response.messages {
        try await call.ports.responseRoom()
        call.onLoop { $0.ports.sendResponse(.message(message), nil) }
      }
      let trailers = response.trailers()
      call.onLoop { $0.end(.ok, trailers) }
    }
  }

  /// Starts `body` on the loop, where it runs until it awaits something that leaves the loop. It has the context of the
  /// call, whatever has led to the start: the interceptor before this one may be on its own executor.
  private func start(_ body: @escaping @Sendable (WholeCall) async throws -> Void) {
    guard task == nil else { return }
    TaskContext.with(ports.context()) {
      let task = Task.immediate(executorPreference: ports.eventLoop) { await self.run(body) }
      if !isOver { self.task = task }
    }
  }

  private func run(_ body: @Sendable (WholeCall) async throws -> Void) async {
    do {
      try await body(self)
    } catch {
      let status = ports.status(error)
      onLoop { $0.end(status, $0.trailers(of: status)) }
    }
  }

  private func trailers(of status: GRPCStatus) -> HPACKHeaders {
    guard let lastFailure, lastFailure.status == status else { return HPACKHeaders() }
    return lastFailure.trailers
  }

  func onLoop(_ body: @escaping @Sendable (WholeCall) -> Void) {
    if ports.eventLoop.inEventLoop { body(self) } else { ports.eventLoop.execute { body(self) } }
  }

  private func send(_ metadata: HPACKHeaders) {
    ports.sendResponse(.metadata(metadata), responsePromises.takeMetadata())
  }

  private func end(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    guard !isOver else { return }
    let abandoned = attempt.map { !$0.hasEnded } ?? false
    finish(status)
    if abandoned { abandonAttempt() }
    ports.sendResponse(.end(status, trailers), responsePromises.takeEnd())
    onEnd?()
    onEnd = nil
  }

  /// Ends the rest of the chain's work for an attempt, of which nothing is needed any more.
  func abandonAttempt() {
    hasLeftBehind = true
    ports.abandon()
  }

  /// Whether a part, or a failure, which is an end, comes from an attempt that was given up.
  func isLeftBehind(isEnd: Bool) -> Bool {
    defer { if isEnd { hasLeftBehind = false } }
    return hasLeftBehind
  }

  func attemptBegins(_ attempt: WholeCallAttempt<Request, Response>) {
    hasLeftBehind = false
    self.attempt = attempt
  }

  /// The call has ended without the interceptor. Everything that `intercept` waits for fails.
  func close(_ status: GRPCStatus) {
    guard !isOver else { return }
    finish(status)
    onEnd?()
    onEnd = nil
  }

  private func finish(_ status: GRPCStatus) {
    isOver = true
    requests.finish(status.isOk ? nil : status)
    attempt?.fail(status.isOk ? .callEnded : status, HPACKHeaders(), of: self)
    attempt = nil
    task?.cancel()
    task = nil
  }

  /// The chain cancels the call: the interceptor's task is cancelled, and its requests fail.
  func cancel(_ status: GRPCStatus) {
    cancellation = cancellation ?? status
    requests.finish(status)
    task?.cancel()
  }
}
