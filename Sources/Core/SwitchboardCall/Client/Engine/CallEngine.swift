/// Adds per-method configuration, tokens and retries to a transport. Interceptors see one call, regardless of the number
/// of its attempts.
///
/// A call that needs none of these goes straight to the transport.
@usableFromInline
final class CallEngine: Sendable {
  let transport: any ByteTransport
  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let streamBufferSize: Int
  let environment: CallEnvironment
  /// The config of the options, and whether there is one: a comparison with `nil` would copy it.
  private let (config, hasConfig): (ServiceConfig?, Bool)
  /// The config from the resolution of the channel's name, if it can provide one. It takes precedence.
  private let resolvedConfig: ResolvedConfig?
  private let retryBufferSize: Int
  private let enablesRetry: Bool
  private let throttles: RetryThrottles
  /// Whether the channel has options of its own, which calls cannot change.
  private let hasOwnOptions: Bool
  let remarks: ConfigRemarks
  /// Follows the channel's calls, if its observer traces.
  @usableFromInline let tracer: (any ChannelTracer)?

  init(
    _ transport: any ByteTransport,
    _ config: ServiceConfig?,
    retryBufferSize: Int?,
    enablesRetry: Bool,
    _ environment: CallEnvironment,
    tracer: (any ChannelTracer)? = nil,
    throttles: RetryThrottles = RetryThrottles(),
    hasOwnOptions: Bool = false,
    remarks: ConfigRemarks = ConfigRemarks(.quiet)
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
    self.hasOwnOptions = hasOwnOptions
    self.remarks = remarks
  }

  @usableFromInline
  var host: String { transport.host }

  /// The same configuration over the transport's sibling. Siblings are made per call and share the retry throttles.
  @usableFromInline
  func sibling(for host: String) throws(GRPCStatus) -> CallEngine {
    if host == self.host { return self }
    return CallEngine(
      try transport.sibling(for: host),
      config,
      retryBufferSize: retryBufferSize,
      enablesRetry: enablesRetry,
      environment,
      tracer: tracer,
      throttles: throttles,
      hasOwnOptions: hasOwnOptions,
      remarks: remarks
    )
  }

  @usableFromInline
  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    if tracer != nil, request.tracer == nil, request.stamp.needsTracer {
      // The tracer may shorten the deadline. To unwrap it would count a reference.
      setDeadline(of: &request)
      tracer?.callMade(&request)
    }
    let callTracer = request.stamp.wantsCall ? request.tracer : nil
    let call =
      hasConfig || request.options?.box != nil || resolvedConfig != nil
      ? makeCallWithOptions(request, receiver) : transport.makeCall(request, receiver: receiver)
    callTracer?.made(call)
    return call
  }

  /// The context of the caller's task, for a call with interceptors, which starts later.
  @usableFromInline
  var callerContext: (any ContextSource)? { tracer?.context ?? TaskContext.source }

  /// Starts the clock of a call with interceptors, and adds to its metadata what it inherits: interceptors see both. A
  /// method borrows `options`, which an initializer would copy.
  @usableFromInline
  func settings(
    for options: CallOptions?,
    _ metadata: inout HPACKHeaders,
    in context: (any ContextSource)?
  ) -> SharedCallSettings {
    let latest = context.flatMap { tracer?.passOn($0, to: &metadata) }
    return SharedCallSettings(options, environment.time, latest: latest)
  }

  private func setDeadline(of request: inout CallRequest) {
    guard request.deadline == nil, let timeout = request.options?.timeout else { return }
    request.deadline = environment.time.deadline(after: timeout)
  }

  /// The deadline of a call that starts now, by its options and by what is known of its service config.
  func deadline(of method: MethodDescriptor, _ options: CallOptions?) -> CallDeadline? {
    let config = options?.serviceConfig ?? resolvedConfig?.known?.config ?? config
    let timeouts = [options?.timeout, config?.methodConfig(for: method)?.timeout]
    return timeouts.compactMap(\.self).min().map { environment.time.deadline(after: $0) }
  }

  private func makeCallWithOptions(_ request: CallRequest, _ receiver: any ResponseReceiver) -> any ByteCall {
    var request = request
    if hasOwnOptions, let refusal = request.options?.refusalOfOwnChannel {
      return RefusedCall(request, eventLoop, receiver, refusal)
    }
    do throws(GRPCStatus) {
      try request.options?.checkValues()
    } catch { return RefusedCall(request, eventLoop, receiver, error) }
    setDeadline(of: &request)
    if let config = request.options?.serviceConfig {
      remarks.report(config, ofGivenChannel: hasOwnOptions)
      if replacesMethod(request.method, by: config) { remarks.report(unnamed: request.method) }
      // A route is needed nevertheless.
      guard resolvedConfig?.routesCalls == true else { return makeConfiguredCall(request, receiver, nil) }
    }
    guard let resolvedConfig else {
      guard hasConfig || request.options?.needsEngine == true else {
        return transport.makeCall(request, receiver: receiver)
      }
      return makeConfiguredCall(request, receiver, nil)
    }
    if let known = resolvedConfig.known { return makeConfiguredCall(request, receiver, known) }
    // It has to wait for the config of the channel's name.
    let failsFast = !(request.options?.chosenWaitForReady ?? resolvedConfig.callsWait)
    let awaited: @Sendable () -> String = { [host] in
      "the name \(host) to be resolved\(resolvedConfig.progress)"
    }
    return PreparedCall(request, receiver, self, awaiting: awaited) { [self, request] () throws(GRPCStatus) in
      let resolved = try await resolvedConfig.wait(failsFast: failsFast)
      request.tracer?.resolutionWasDelayed()
      return makeConfiguredCall(request, receiver, resolved)
    }
  }

  /// Whether the config of a call has methods, but not this one, which the channel's has.
  private func replacesMethod(_ method: MethodDescriptor, by config: ServiceConfig) -> Bool {
    guard !config.methodConfigs.isEmpty, config.methodConfig(for: method) == nil else { return false }
    let replaced = resolvedConfig?.known?.config ?? self.config
    return replaced?.methodConfig(for: method) != nil
  }

  private func makeConfiguredCall(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ resolved: ResolvedConfig.Settings?
  ) -> any ByteCall {
    var request = request
    var options = request.options ?? CallOptions()
    let config = options.serviceConfig ?? resolved?.config ?? config
    var method = config?.methodConfig(for: request.method)
    var faults: [CallFault] = []
    if let router = resolved?.router {
      do throws(GRPCStatus) {
        let route = try router.route(request.method, options.initialMetadata)
        request.placement = .route(route)
        faults = route.faults?(options.initialMetadata) ?? []
        if options.serviceConfig == nil { method = route.config }
      } catch { return RefusedCall(request, eventLoop, receiver, error) }
    } else if let config, !config.methodConfigs.isEmpty {
      remarks.report(nearMissOf: request.method, in: config)
    }
    if let method { options.apply(method) }
    let latest = method?.timeout.map { environment.time.deadline(after: $0) }
    request.deadline = .earlier(request.deadline, latest)
    if options.authTokenProvider == nil, let token = options.oauth2AccessToken {
      do throws(GRPCStatus) {
        try options.authorize(token)
      } catch { return RefusedCall(request, eventLoop, receiver, error) }
    }
    request.options = options
    let plan = RepetitionPlan(
      repetition: options.chosenEnableRetry ?? enablesRetry ? method?.repetition : nil,
      throttle: config?.retryThrottling.map { throttles.throttle($0, for: host) },
      bufferLimit: options.retryBufferSize ?? retryBufferSize,
      requestSizeLimit: method?.maxRequestMessageBytes
    )
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
    if !faults.isEmpty {
      let awaited: @Sendable () -> String = { "a delay that the control plane has put before the call" }
      return PreparedCall(request, receiver, self, awaiting: awaited) {
        [self, request, faults, mustSeeRequests] () throws(GRPCStatus) in
        for fault in faults { try await fault.pass(environment.time, on: eventLoop) }
        return mustSeeRequests
          ? RetryingCall(request, receiver, self, plan) : makeAttempt(request, receiver)
      }
    }
    guard mustSeeRequests else { return makeAttempt(request, receiver) }
    return RetryingCall(request, receiver, self, plan)
  }

  /// Makes the only attempt of a call, or one of several: each has a token of its own.
  func makeAttempt(_ request: CallRequest, _ receiver: any ResponseReceiver) -> any ByteCall {
    guard let provider = request.options?.authTokenProvider else {
      return transport.makeCall(request, receiver: receiver)
    }
    let awaited: @Sendable () -> String = { "a token of CallOptions.authTokenProvider" }
    return PreparedCall(request, receiver, self, awaiting: awaited) { [self, request] () throws(GRPCStatus) in
      var request = request
      do {
        let token = try await provider.token()
        if let token { try request.options?.authorize(token) }
        if token == nil, request.options?.oauth2AccessToken != nil { remarks.reportUnusedToken() }
      } catch {
        throw .unauthorized(error)
      }
      return transport.makeCall(request, receiver: receiver)
    }
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

  private static let countsFromTheStart =
    "it counts from the start of the call (for a time that may have passed, write max(.zero, time - .now))"

  /// Throws `INVALID_ARGUMENT` for a value with which no call could work.
  fileprivate func checkValues() throws(GRPCStatus) {
    if let responseSizeLimit {
      let range = OptionRange.atLeast(1)
      try range.check(responseSizeLimit, "responseSizeLimit", because: MessageLimit.nothingFits)
    }
    if let timeout {
      try OptionRange.atLeast(.zero).check(timeout, "timeout", because: Self.countsFromTheStart)
    }
    if let fault = box?.choices.payloadFormat?.formats.fault { throw fault }
  }

  /// Whether the call needs more than the transport provides.
  fileprivate var needsEngine: Bool {
    guard let box else { return false }
    return box.choices.oauth2AccessToken != nil || box.choices.authTokenProvider != nil
  }

  fileprivate var chosenEnableRetry: Bool? { box?.choices.enableRetry }

  mutating func authorize(_ token: String) throws(GRPCStatus) {
    try BearerToken.check(token)
    var metadata = initialMetadata
    metadata.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
    initialMetadata = metadata
  }
}

extension GRPCStatus {
  fileprivate static func unauthorized(_ error: any Error) -> GRPCStatus {
    .determined(by: error) ?? GRPCStatus(code: .unauthenticated, message: "could not get a token: \(error)")
  }

  static func requestTooLarge(_ byteCount: Int, limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: """
        a request of \(byteCount) bytes is larger than the limit in the service config \
        (maxRequestMessageBytes): \(limit) bytes
        """
    )
  }
}
