public import SwitchboardCall

/// Measures the calls that it is asked about, on either side, and tells a recorder.
public struct CallMetrics: InterceptorFactory {
  /// One call that has ended.
  public struct Call: Sendable, Hashable {
    /// The path of the method.
    public var path: String
    /// Whether this was the server's side of it.
    public var isServer: Bool
    /// How it ended.
    public var code: GRPCStatus.Code
    /// From its metadata to its end.
    public var duration: Duration
    /// How many requests passed.
    public var requests: Int
    /// How many responses passed.
    public var responses: Int

    /// For tests of recorders.
    public init(
      path: String,
      isServer: Bool,
      code: GRPCStatus.Code,
      duration: Duration,
      requests: Int,
      responses: Int
    ) {
      self.path = path
      self.isServer = isServer
      self.code = code
      self.duration = duration
      self.requests = requests
      self.responses = responses
    }
  }

  private let recorder: any CallMetricsRecorder
  private let time: MonotonicTime

  /// Tells `recorder` of each call. `now` is for tests.
  public init(_ recorder: any CallMetricsRecorder, now: (@Sendable () -> Duration)? = nil) {
    self.recorder = recorder
    time = MonotonicTime(now)
  }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    [ClientMeter(Meter(recorder, time, path: method.path, isServer: false))]
  }

  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    [ServerMeter(Meter(recorder, time, path: method.path, isServer: true))]
  }
}

/// Where the figures of calls go. Both methods are called on event loops, and must not block.
public protocol CallMetricsRecorder: Sendable {
  /// A call has begun.
  func callStarted(path: String, isServer: Bool)
  /// A call that had begun is over; told exactly once for each.
  func callEnded(_ call: CallMetrics.Call)
}

/// Measures one call; a call that is let go of before its end was cancelled.
private final class Meter {
  private let recorder: any CallMetricsRecorder
  private let time: MonotonicTime
  private var call: CallMetrics.Call
  private var begun: Duration?

  init(_ recorder: any CallMetricsRecorder, _ time: MonotonicTime, path: String, isServer: Bool) {
    self.recorder = recorder
    self.time = time
    call = CallMetrics.Call(
      path: path,
      isServer: isServer,
      code: .cancelled,
      duration: .zero,
      requests: 0,
      responses: 0
    )
  }

  deinit { end(.cancelled) }

  /// A call that an interceptor before this one sends again goes on being one call.
  func start() {
    guard begun == nil else { return }
    begun = time.now()
    recorder.callStarted(path: call.path, isServer: call.isServer)
  }

  func countRequest() { call.requests += 1 }

  func countResponse() { call.responses += 1 }

  func end(_ code: GRPCStatus.Code) {
    guard let begun else { return }
    self.begun = nil
    call.code = code
    call.duration = time.now() - begun
    recorder.callEnded(call)
    call.requests = 0
    call.responses = 0
  }
}

private final class ClientMeter<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response> {
  private let meter: Meter

  init(_ meter: Meter) {
    self.meter = meter
    super.init()
  }

  override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: meter.start()
    case .message: meter.countRequest()
    case .end: break
    }
    context.send(part, promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Response>,
    context: ClientInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: break
    case .message: meter.countResponse()
    case .end(let status, _): meter.end(status.code)
    }
    context.receive(part)
  }

  override func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    meter.end(GRPCStatus(describing: error).code)
    context.errorCaught(error)
  }
}

private final class ServerMeter<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {
  private let meter: Meter

  init(_ meter: Meter) {
    self.meter = meter
    super.init()
  }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: meter.start()
    case .message: meter.countRequest()
    case .end: break
    }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: break
    case .message: meter.countResponse()
    case .end(let status, _): meter.end(status.code)
    }
    context.send(part, promise: promise)
  }
}
