import SwitchboardBalancing
import SwitchboardCall
import SwitchboardTransport

/// The observer of servers and channels that measures and traces their calls. All observers of a `Telemetry` share its
/// metrics.
final class CallTelemetry: TelemetryObserver {
  let parts: TelemetryParts
  let propagation: ContextPropagation
  private let logger: Logger
  /// Whether a channel has it, or the log says that it passes on nothing.
  private let isSettled = Locked(false)

  init(_ parts: TelemetryParts, _ propagation: ContextPropagation, _ logger: Logger) {
    self.parts = parts
    self.propagation = propagation
    self.logger = logger
  }

  func channelTracer(target: String, on loop: any EventLoop) -> any ChannelTracer {
    isSettled.withLock { $0 = true }
    parts.use.channelWasMade()
    return ChannelTelemetry(parts, propagation, target, on: loop)
  }

  func serverWasMade() { parts.use.serverWasMade() }

  func serverTracer(on loop: any EventLoop, peer: String) -> any ServerTracer {
    if propagation != .nothing { remarkOnServer() }
    return ServerTelemetry(parts, on: loop, peer: peer)
  }

  private func remarkOnServer() {
    let isNews = isSettled.withLock { isSettled in
      defer { isSettled = true }
      return !isSettled
    }
    guard isNews else { return }
    logger.log(
      .warning,
      "observer(passingOn:): what is passed on is chosen by the observer of a channel, and a server has this one"
    )
  }

  func metrics(target: String) -> MetricScope? {
    parts.metrics?.scope([MetricLabel.target: target.asLabel])
  }

  func connectionOpened(_ connection: ObservedConnection) { parts.connections?.opened(connection) }
  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    parts.connections?.closed(connection)
  }
  func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    parts.connections?.failed(connection)
  }
  func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection) { parts.connections?.abused(abuse) }
  func loopBlocked(by method: MethodDescriptor?, for time: Duration) {
    parts.connections?.loopBlocked(by: method?.metricLabel ?? CallMeters.other)
  }
}

/// The parts of the telemetry that the tracers of calls use.
final class TelemetryParts: Sendable {
  let clock: TelemetryClock
  /// Who wants to see single calls.
  let keeping: CallKeeping
  /// `nil`: calls are not counted.
  let serverMeters: CallMeters?
  let clientMeters: CallMeters?
  let connections: ConnectionMeters?
  /// Records what the components of channels measure. `nil`: nothing is recorded.
  let metrics: TelemetryMetrics?
  /// The numbers of the loops on which calls are counted.
  let loops = LoopNumbers()
  /// `nil`: calls are not traced.
  let tracer: Tracer?
  /// Whether handlers get the context of their call.
  let givesContext: Bool
  let writesTraceParent: Bool
  let writesTraceBin: Bool
  let hasMessageEvents: Bool
  /// What was changed of the sampler for some methods.
  let levers: SamplingLevers
  /// Returns the span of the task, if another library keeps it.
  let spanOfTask: (@Sendable () -> SpanContext?)?
  let use: TelemetryUse

  init(
    _ clock: TelemetryClock,
    _ keeping: CallKeeping,
    serverMeters: CallMeters?,
    clientMeters: CallMeters?,
    connections: ConnectionMeters?,
    metrics: TelemetryMetrics?,
    tracer: Tracer?,
    givesContext: Bool,
    propagators: Set<Propagator>,
    hasMessageEvents: Bool,
    spanOfTask: (@Sendable () -> SpanContext?)?,
    use: TelemetryUse
  ) {
    self.spanOfTask = spanOfTask
    self.use = use
    self.clock = clock
    self.keeping = keeping
    levers = SamplingLevers(clock)
    self.serverMeters = serverMeters
    self.clientMeters = clientMeters
    self.connections = connections
    self.metrics = metrics
    self.tracer = tracer
    self.givesContext = givesContext
    writesTraceParent = propagators.contains(.traceContext)
    writesTraceBin = propagators.contains(.grpcTraceBin)
    self.hasMessageEvents = hasMessageEvents
  }
}

extension MethodDescriptor {
  /// The method's name in gRPC's metrics: the path without its first slash.
  var metricLabel: String {
    self === MethodDescriptor.unknown ? CallMeters.other : String(path.dropFirst()).asLabel
  }

  /// The method's name in gRPC's spans.
  var spanName: String { service.isEmpty ? method : "\(service).\(method)".limited(to: 256) }
}

extension ObservedEnd {
  /// The bytes without the five bytes that frame each message.
  var sentPayload: Int { max(0, sent.bytes - 5 * sent.messages) }
  var receivedPayload: Int { max(0, received.bytes - 5 * received.messages) }
}

extension Span {
  /// Sets the attributes that OpenTelemetry defines for a call.
  func describe(_ method: MethodDescriptor) {
    set("rpc.system", "grpc")
    set("rpc.service", .string(method.service))
    set("rpc.method", .string(method.method))
  }

  /// Ends the span of a call or an attempt.
  func end(_ status: GRPCStatus, at time: UInt64) {
    set("rpc.grpc.status_code", .int(status.code.rawValue))
    if !status.isOk { fail(status) }
    end(at: time)
  }

  /// Marks the span as failed. A status looks as on the span of its call.
  func fail(_ error: any Error) {
    guard let status = error as? GRPCStatus else { return fail("\(error)") }
    let label = status.code.specName
    fail(status.message.map { "\(label): \($0)" } ?? label)
  }

  func noteMessage(_ name: String, _ number: Int, _ byteCount: Int, compressed: Int? = nil) {
    var attributes: [String: AttributeValue] = [
      "sequence-number": .int(number), "message-size": .int(byteCount),
    ]
    if let compressed { attributes["message-size-compressed"] = .int(compressed) }
    addEvent(name, attributes)
  }
}
