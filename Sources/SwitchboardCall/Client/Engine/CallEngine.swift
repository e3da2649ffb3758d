/// A transport that adds per-method configuration, tokens and retries to another. Interceptors see one call, regardless
/// of the number of its attempts.
///
/// A call that needs none of these goes straight to the transport.
@usableFromInline
final class CallEngine: ByteTransport {
  let transport: any ByteTransport
  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let streamBufferSize: Int
  let environment: CallEnvironment
  /// The config of the options, and whether there is one: a comparison with `nil` would copy it.
  private let (config, hasConfig): (ServiceConfig?, Bool)
  /// The config from the resolution of the channel's name, if it can provide one. It takes precedence.
  @usableFromInline let resolvedConfig: ResolvedConfig?
  private let retryBufferSize: Int
  private let enablesRetry: Bool
  private let throttles: RetryThrottles
  /// Follows the channel's calls, if its observer traces.
  @usableFromInline let tracer: (any ChannelTracer)?

  init(
    _ transport: any ByteTransport,
    _ config: ServiceConfig?,
    retryBufferSize: Int?,
    enablesRetry: Bool,
    _ environment: CallEnvironment,
    tracer: (any ChannelTracer)? = nil,
    throttles: RetryThrottles = RetryThrottles()
  ) {
    self.transport = transport
    eventLoop = transport.eventLoop
    streamBufferSize = transport.streamBufferSize
    (self.config, hasConfig) = (config, config != nil)
    resolvedConfig = transport.resolvedConfig
    self.retryBufferSize = retryBufferSize ?? 256 * 1024
    self.enablesRetry = enablesRetry
    self.environment = environment
    self.tracer = tracer
    self.throttles = throttles
  }

  @usableFromInline
  var host: String { transport.host }

  /// The same configuration over the transport's sibling. Siblings are made per call and share the retry throttles.
  @usableFromInline
  func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport {
    if host == self.host { return self }
    return CallEngine(
      try transport.sibling(for: host),
      config,
      retryBufferSize: retryBufferSize,
      enablesRetry: enablesRetry,
      environment,
      tracer: tracer,
      throttles: throttles
    )
  }

  @usableFromInline func connect() { transport.connect() }
  @usableFromInline func retire() { transport.retire() }
  @usableFromInline func shutDown(grace: Duration) async { await transport.shutDown(grace: grace) }

  @usableFromInline
  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    if tracer != nil, request.tracer == nil, request.stamp.needsTracer { trace(&request, context: nil) }
    return request.stamp.wantsCall ? makeTracedCall(request, receiver) : makeUntracedCall(request, receiver)
  }

  private func makeUntracedCall(
    _ request: consuming CallRequest,
    _ receiver: any ResponseReceiver
  ) -> any ByteCall {
    guard hasConfig || request.options?.box != nil || resolvedConfig != nil else {
      return transport.makeCall(request, receiver: receiver)
    }
    return makeCallWithOptions(request, receiver)
  }

  private func makeTracedCall(_ request: CallRequest, _ receiver: any ResponseReceiver) -> any ByteCall {
    let call = makeUntracedCall(request, receiver)
    request.tracer?.made(call)
    return call
  }

  /// Starts the clock of a call with interceptors. A method borrows `options`, which an initializer would copy.
  @usableFromInline
  func settings(for options: CallOptions?) -> SharedCallSettings {
    SharedCallSettings(options, options?.timeout.map { environment.time.deadline(after: $0) })
  }

  /// Lets the channel's tracer, if it has one, follow the call. `context` is that of the task that began the call.
  func trace(_ request: inout CallRequest, context: AnyObject?) {
    // The tracer may shorten the deadline.
    if tracer != nil, request.deadline == nil, let timeout = request.options?.timeout {
      request.deadline = environment.time.deadline(after: timeout)
    }
    // To unwrap it would count a reference.
    tracer?.callMade(&request, context: context)
  }

  private func makeCallWithOptions(_ request: CallRequest, _ receiver: any ResponseReceiver) -> any ByteCall {
    var request = request
    if let limit = request.options?.responseSizeLimit, limit < 0 {
      let refusal = GRPCStatus.invalidOption("responseSizeLimit is \(limit): it must be at least 0")
      return RefusedCall(request, eventLoop, receiver, refusal)
    }
    if request.deadline == nil, let timeout = request.options?.timeout {
      request.deadline = environment.time.deadline(after: timeout)
    }
    if let config = request.options?.serviceConfig {
      return makeCall(request, receiver, config)
    }
    if let resolvedConfig { return makeCall(request, receiver, resolvedConfig) }
    guard hasConfig || request.options?.needsEngine == true else {
      return transport.makeCall(request, receiver: receiver)
    }
    return makeCall(request, receiver, config)
  }

  /// Makes a call that waits for the config of the channel's name, if it is not known yet.
  private func makeCall(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ resolvedConfig: ResolvedConfig
  ) -> any ByteCall {
    if let known = resolvedConfig.known { return makeCall(request, receiver, known ?? config) }
    let failsFast = !(request.options?.waitForReady ?? false)
    return PreparedCall(request, receiver, self) { [self] () throws(GRPCStatus) in
      let resolved = try await resolvedConfig.wait(failsFast: failsFast)
      request.tracer?.resolutionWasDelayed()
      return makeCall(request, receiver, resolved ?? config)
    }
  }

  private func makeCall(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ config: ServiceConfig?
  ) -> any ByteCall {
    var request = request
    var options = request.options ?? CallOptions()
    let method = config?.methodConfig(for: request.method)
    if let method { options.apply(method) }
    if let longest = method?.timeout {
      let latest = environment.time.deadline(after: longest)
      if request.deadline.map({ $0.time > latest.time }) ?? true { request.deadline = latest }
    }
    let provider = options.authTokenProvider
    if provider == nil, let token = options.oauth2AccessToken { options.authorize(token) }
    request.options = options
    let plan = RepetitionPlan(
      repetition: options.chosenEnableRetry ?? enablesRetry ? method?.repetition : nil,
      throttle: config?.retryThrottling.map { throttles.throttle($0, for: host) },
      bufferLimit: options.retryBufferSize ?? retryBufferSize,
      requestSizeLimit: method?.maxRequestMessageBytes
    )
    guard let provider else { return makeCall(request, receiver, plan) }
    return PreparedCall(request, receiver, self) { [self, request] () throws(GRPCStatus) in
      var request = request
      do {
        if let token = try await provider.token() { request.options?.authorize(token) }
      } catch {
        throw .unauthorized(error)
      }
      return makeCall(request, receiver, plan)
    }
  }

  /// Makes a call whose options are final.
  func makeCall(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ plan: RepetitionPlan
  ) -> any ByteCall {
    var mustSeeRequests = plan.repetition != nil
    if let limit = plan.requestSizeLimit {
      switch request.body {
      case .stream:
        mustSeeRequests = true
      case .message(let message) where message.byteCount > limit:
        return RefusedCall(request, eventLoop, receiver, .requestTooLarge(message.byteCount, limit: limit))
      case .message:
        break
      }
    }
    guard mustSeeRequests else { return transport.makeCall(request, receiver: receiver) }
    return RetryingCall(request, receiver, transport, plan, environment)
  }
}

/// How a call may be repeated, and the limits of its requests.
struct RepetitionPlan: Sendable {
  var repetition: MethodConfig.Repetition?
  var throttle: RetryThrottle?
  var bufferLimit: Int
  var requestSizeLimit: Int?
}

extension CallOptions {
  /// Adds the method's configuration; the lower of two limits applies.
  fileprivate mutating func apply(_ config: MethodConfig) {
    if let waits = config.waitForReady, box?.choices.waitForReady == nil { waitForReady = waits }
    if let largest = config.maxResponseMessageBytes {
      responseSizeLimit = min(responseSizeLimit ?? largest, largest)
    }
  }

  /// Whether the call needs more than the transport provides.
  fileprivate var needsEngine: Bool {
    guard let box else { return false }
    return box.choices.oauth2AccessToken != nil || box.choices.authTokenProvider != nil
      || box.choices.serviceConfig != nil
  }

  fileprivate var chosenEnableRetry: Bool? { box?.choices.enableRetry }

  mutating func authorize(_ token: String) {
    var metadata = initialMetadata
    metadata.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
    initialMetadata = metadata
  }
}

extension GRPCStatus {
  fileprivate static func unauthorized(_ error: any Error) -> GRPCStatus {
    if let known = error as? any GRPCStatusTransformable { return known.makeGRPCStatus() }
    return GRPCStatus(code: .unauthenticated, message: "could not get a token: \(error)")
  }

  static func requestTooLarge(_ byteCount: Int, limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: "a request of \(byteCount) bytes is larger than the limit of \(limit)"
    )
  }
}
