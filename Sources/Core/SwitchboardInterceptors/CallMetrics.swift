public import SwitchboardCall

/// Measures calls on either side and reports them to a recorder.
///
/// ```swift
/// let table = CallMetricsTable()
/// var options = ServerOptions()
/// options.interceptorFactories = [CallMetrics(table)]
/// for (key, sum) in table.sums { print(key.path, key.code, sum.calls, sum.duration / max(1, sum.calls)) }
/// ```
public struct CallMetrics: InterceptorFactory {
  /// A completed call.
  public struct Call: Sendable, Hashable {
    /// The path of the method.
    public var path: String
    /// Whether this is the server's side.
    public var isServer: Bool
    /// The status code of the call.
    public var code: GRPCStatus.Code
    /// The time from its metadata to its end.
    public var duration: Duration
    /// The number of requests.
    public var requests: Int
    /// The number of responses.
    public var responses: Int

    /// Creates a value for testing recorders.
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

  /// Reports each call to `recorder`. `now` is for tests.
  public init(_ recorder: any CallMetricsRecorder, now: (@Sendable () -> Duration)? = nil) {
    self.recorder = recorder
    time = MonotonicTime(now)
  }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    [ClientEventInterceptor(Meter(recorder, time, path: method.path, isServer: false))]
  }

  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    [ServerEventInterceptor(Meter(recorder, time, path: method.path, isServer: true))]
  }
}

/// Receives the figures of calls. Both methods are called on event loops and must not block.
public protocol CallMetricsRecorder: Sendable {
  /// Called when a call starts.
  func callStarted(path: String, isServer: Bool)
  /// Called exactly once for each call that started, when it ends.
  func callEnded(_ call: CallMetrics.Call)
}

/// Measures one call; if it is released before its end, the call was cancelled.
private final class Meter: CallEventHandler {
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

  func handle(_ event: CallEvent, _ path: String, _ logger: @autoclosure () -> Logger) {
    switch event {
    case .started: start()
    case .request: call.requests += 1
    case .response: call.responses += 1
    case .ended(let status): end(status.code)
    }
  }

  /// If an interceptor before this one retries the call, it remains the same call.
  private func start() {
    guard begun == nil else { return }
    begun = time.now()
    recorder.callStarted(path: call.path, isServer: call.isServer)
  }

  private func end(_ code: GRPCStatus.Code) {
    guard let begun else { return }
    self.begun = nil
    call.code = code
    call.duration = time.now() - begun
    recorder.callEnded(call)
    call.requests = 0
    call.responses = 0
  }
}
