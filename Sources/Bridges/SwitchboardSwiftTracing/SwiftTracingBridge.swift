// Empty unless the environment asks for it. The tests compile this file over a stand-in with the packages' signatures.
#if SwiftTracing
  public import SwitchboardTelemetry

  #if BridgeStandIns
    public import BridgeStandIns

    public typealias TracingTracer = BridgeStandIns.Tracer
    public typealias TracingSpan = BridgeStandIns.Span
  #else
    public import Tracing

    /// The tracer of swift-distributed-tracing.
    public typealias TracingTracer = Tracing.Tracer
    /// The span of swift-distributed-tracing.
    public typealias TracingSpan = Tracing.Span
  #endif

  /// Makes the spans of libraries that use swift-distributed-tracing, in the same traces as those of calls.
  ///
  /// ```swift
  /// var options = TelemetryOptions(serviceName: "checkout")
  /// options.spanOfTask = TelemetryTracer.spanOfTask
  /// let telemetry = try Telemetry(options)
  /// InstrumentationSystem.bootstrap(TelemetryTracer(telemetry))
  /// ```
  /// `spanOfTask` makes calls children of the spans that such libraries make around them.
  public struct TelemetryTracer: TracingTracer {
    private let tracer: SwitchboardTelemetry.Tracer
    private let telemetry: Telemetry

    /// Makes the spans of `telemetry`.
    public init(_ telemetry: Telemetry) {
      self.telemetry = telemetry
      tracer = telemetry.tracer
    }

    /// The span that the task is in by swift-distributed-tracing.
    public static let spanOfTask: @Sendable () -> SpanContext? = {
      ServiceContext.current?[SpanContextKey.self]
    }

    public func startSpan<Instant: TracerInstant>(
      _ operationName: String,
      context: @autoclosure () -> ServiceContext,
      ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant,
      function: String,
      file fileID: String,
      line: UInt
    ) -> TelemetrySpan {
      let context = context()
      let span = tracer.startSpan(
        operationName,
        kind: SwitchboardTelemetry.Span.Kind(kind),
        parent: context[SpanContextKey.self],
        at: instant().nanosecondsSinceEpoch
      )
      return TelemetrySpan(span, operationName, context)
    }

    /// Exports what there is, in the background.
    public func forceFlush() {
      Task { [telemetry] in await telemetry.flush() }
    }

    public func extract<Carrier, Extract>(
      _ carrier: Carrier,
      into context: inout ServiceContext,
      using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {
      let read = SpanContext(
        traceParent: extractor.extract(key: "traceparent", from: carrier) ?? "",
        traceState: extractor.extract(key: "tracestate", from: carrier) ?? ""
      )
      if let read { context[SpanContextKey.self] = read }
    }

    public func inject<Carrier, Inject>(
      _ context: ServiceContext,
      into carrier: inout Carrier,
      using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {
      guard let span = context[SpanContextKey.self] ?? SpanContext.current else { return }
      injector.inject(span.traceParent, forKey: "traceparent", into: &carrier)
      if !span.traceState.isEmpty { injector.inject(span.traceState, forKey: "tracestate", into: &carrier) }
    }
  }

  private enum SpanContextKey: ServiceContextKey {
    typealias Value = SpanContext
    static var nameOverride: String? { "switchboard-span" }
  }

  /// A span of the telemetry, as swift-distributed-tracing sees it.
  public struct TelemetrySpan: TracingSpan {
    private let span: SwitchboardTelemetry.Span
    private let name: String
    public let context: ServiceContext

    init(_ span: SwitchboardTelemetry.Span, _ name: String, _ parent: ServiceContext) {
      self.span = span
      self.name = name
      var context = parent
      context[SpanContextKey.self] = span.context
      self.context = context
    }

    public var operationName: String {
      get { name }
      nonmutating set { span.rename(newValue) }
    }

    public var isRecording: Bool { span.isRecording }

    /// What is set is added; what was set is not read back.
    public var attributes: SpanAttributes {
      get { SpanAttributes([:]) }
      nonmutating set { for (key, value) in newValue.values { span.set(key, value) } }
    }

    public func setStatus(_ status: SpanStatus) {
      if status.code == .error { span.fail(status.message ?? "error") }
    }

    public func addEvent(_ event: SpanEvent) {
      span.addEvent(event.name, event.attributes.values, at: event.nanosecondsSinceEpoch)
    }

    public func recordError<Instant: TracerInstant>(
      _ error: Error,
      attributes: SpanAttributes,
      at instant: @autoclosure () -> Instant
    ) {
      var values = attributes.values
      values["exception.type"] = .string("\(type(of: error))")
      values["exception.message"] = .string("\(error)")
      span.addEvent("exception", values, at: instant().nanosecondsSinceEpoch)
    }

    public func addLink(_ link: SpanLink) {
      if let other = link.context[SpanContextKey.self] { span.link(to: other) }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
      span.end(atDate: instant().nanosecondsSinceEpoch)
    }
  }

  extension SpanAttributes {
    fileprivate var values: [String: AttributeValue] {
      var values: [String: AttributeValue] = [:]
      forEach { values[$0] = AttributeValue($1) }
      return values
    }
  }

  extension AttributeValue {
    fileprivate init(_ attribute: SpanAttribute) {
      switch attribute {
      case .int32(let value): self = .int(Int(value))
      case .int64(let value): self = .int(Int(value))
      case .double(let value): self = .double(value)
      case .bool(let value): self = .bool(value)
      case .string(let value): self = .string(value)
      case .stringConvertible(let value): self = .string("\(value)")
      case .int32Array(let values): self = .strings(values.map { "\($0)" })
      case .int64Array(let values): self = .strings(values.map { "\($0)" })
      case .doubleArray(let values): self = .strings(values.map { "\($0)" })
      case .boolArray(let values): self = .strings(values.map { "\($0)" })
      case .stringArray(let values): self = .strings(values)
      case .stringConvertibleArray(let values): self = .strings(values.map { "\($0)" })
      default: self = .string("")
      }
    }
  }

  extension SwitchboardTelemetry.Span.Kind {
    fileprivate init(_ kind: SpanKind) {
      switch kind {
      case .server: self = .server
      case .client: self = .client
      case .producer: self = .producer
      case .consumer: self = .consumer
      case .internal: self = .internal
      }
    }
  }
#endif
