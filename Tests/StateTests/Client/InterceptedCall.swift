import CallTestSupport
import SwitchboardCall
import SwitchboardCallObjects

/// A call through an interceptor that holds parts back.
final class InterceptedCall: CheckedCall, @unchecked Sendable {
  // Sendable because it is used on one loop.
  private let loop: any EventLoop
  private(set) var holder: ClientHolder?
  private var writer: RequestStreamWriter<[UInt8]>?
  private var responses: ResponseStream<[UInt8]>.AsyncIterator?
  private var end: (@Sendable () -> Void)?
  /// The number of tasks that write, read, or wait for the end.
  private var waiting = 0
  private var isReading = false
  private var hasReadAll: Bool

  init(_ model: ClientCallModel, on channel: Channel, _ method: String, holds: Bool, answers: Bool) {
    loop = channel.eventLoop
    hasReadAll = !model.streamsResponses
    super.init(model)
    let holder = ClientHolder(self, holds: holds, answers: answers)
    self.holder = holder
    let call = MethodCall(
      MethodDescriptor(service: "s", method: method, type: model.type).bytes,
      on: channel,
      options: options,
      interceptors: CallInterceptors([holder])
    )
    switch model.type {
    case .unary:
      let call = call.makeUnaryCall(self.model.written[0])
      observe(call) { try await call.response }
    case .clientStreaming:
      let call = call.makeClientStreamingCall()
      writer = call.requestStream
      observe(call) { try await call.response }
    case .serverStreaming:
      let call = call.makeServerStreamingCall(self.model.written[0])
      responses = call.responseStream.makeAsyncIterator()
      observe(call, nil)
    case .bidirectionalStreaming:
      let call = call.makeBidirectionalStreamingCall()
      writer = call.requestStream
      responses = call.responseStream.makeAsyncIterator()
      observe(call, nil)
    }
  }

  private func observe(_ call: some AsyncCall, _ response: (@Sendable () async throws -> [UInt8])?) {
    end = { call.cancel() }
    run {
      // Empty where a successful call had none.
      if let headers = try? await call.initialMetadata, !headers.isEmpty {
        self.note { (model: inout ClientCallModel) throws(Violation) in try model.receive(headers) }
      }
      if let response, let message = try? await response() {
        self.note { (model: inout ClientCallModel) throws(Violation) in try model.receive(message) }
      }
      let status = await call.status
      self.note { (model: inout ClientCallModel) throws(Violation) in try model.close(status) }
    }
  }

  /// Tasks start in the order of these calls.
  private func run(_ body: @escaping @Sendable () async -> Void) {
    waiting += 1
    Task(executorPreference: loop) {
      await body()
      self.waiting -= 1
    }
  }

  override func write(_ message: [UInt8], flush: Bool) {
    guard let writer, !model.hasFinished, !model.isOver else { return }
    model.written.append(message)
    run { try? await writer.send(message, flush: flush) }
  }

  override func finish() {
    guard let writer, !model.hasFinished, !model.isOver else { return }
    model.hasFinished = true
    run { writer.finish() }
  }

  override func cancel() {
    model.isCancelled = true
    end?()
  }

  override func read() -> Bool {
    guard !isReading, !hasReadAll else { return false }
    isReading = true
    run {
      do {
        var iterator = self.responses
        if let message = try await iterator?.next(isolation: nil) {
          self.note { (model: inout ClientCallModel) throws(Violation) in try model.receive(message) }
        } else {
          self.hasReadAll = true
        }
      } catch {
        self.hasReadAll = true
      }
      self.isReading = false
    }
    return false
  }

  override var remains: String? {
    if !hasReadAll { return "responses do not end although their call has" }
    return waiting > 0 ? "\(waiting) tasks wait for a call that has ended" : nil
  }

  override func release() {
    holder = nil
    writer = nil
    responses = nil
    end = nil
  }
}

final class ClientHolder: ClientInterceptor<[UInt8], [UInt8]>, PartHolder {
  typealias Context = ClientInterceptorContext<[UInt8], [UInt8]>

  private weak var call: CheckedCall?
  private var isHolding: Bool
  private let answersAtOnce: Bool
  private var held: [() -> Void] = []
  private var context: Context?

  init(_ call: CheckedCall, holds: Bool, answers: Bool) {
    self.call = call
    isHolding = holds
    answersAtOnce = answers
  }

  func hold() { isHolding = true }

  func release() {
    // What this leads to waits behind what is held.
    while !held.isEmpty { held.removeFirst()() }
    isHolding = false
  }

  func answer() {
    guard let context else { return }
    call?.model.isAnswered = true
    context.receive(.end(GRPCStatus(code: ClientCallModel.answerCode), HPACKHeaders()))
  }

  private func pass(_ action: @escaping () -> Void) {
    if isHolding { held.append(action) } else { action() }
  }

  override func send(
    _ part: GRPCClientRequestPart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: Context
  ) {
    self.context = context
    if case .metadata = part, answersAtOnce { return answer() }
    pass { context.send(part, promise: promise) }
  }

  override func receive(_ part: GRPCClientResponsePart<[UInt8]>, context: Context) {
    pass { context.receive(part) }
  }

  override func errorCaught(_ error: any Error, context: Context) {
    pass { context.errorCaught(error) }
  }
}
