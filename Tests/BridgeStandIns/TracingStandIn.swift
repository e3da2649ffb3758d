// The signatures of swift-distributed-tracing and swift-service-context that the bridge uses.

public protocol ServiceContextKey: Sendable {
  associatedtype Value: Sendable
  static var nameOverride: String? { get }
}

public struct ServiceContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]
  public static var topLevel: ServiceContext { ServiceContext() }
  @TaskLocal public static var current: ServiceContext?

  public subscript<Key: ServiceContextKey>(_ key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

public protocol Extractor: Sendable {
  associatedtype Carrier: Sendable
  func extract(key: String, from carrier: Carrier) -> String?
}

public protocol Injector: Sendable {
  associatedtype Carrier: Sendable
  func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Instrument: Sendable {
  func extract<Carrier, Extract>(
    _ carrier: Carrier,
    into context: inout ServiceContext,
    using extractor: Extract
  )
  where Extract: Extractor, Extract.Carrier == Carrier
  func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject: Injector, Inject.Carrier == Carrier
}

public protocol TracerInstant: Comparable, Hashable, Sendable {
  var nanosecondsSinceEpoch: UInt64 { get }
}

public enum SpanKind: Hashable, Sendable { case server, client, producer, consumer, `internal` }

public protocol LegacyTracer: Instrument {
  func forceFlush()
}

public protocol Tracer: LegacyTracer {
  associatedtype Span: BridgeStandIns.Span
  func startSpan<Instant: TracerInstant>(
    _ operationName: String,
    context: @autoclosure () -> ServiceContext,
    ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant,
    function: String,
    file fileID: String,
    line: UInt
  ) -> Self.Span
}

public protocol Span: Sendable {
  var context: ServiceContext { get }
  var operationName: String { get nonmutating set }
  func setStatus(_ status: SpanStatus)
  func addEvent(_ event: SpanEvent)
  func recordError<Instant: TracerInstant>(
    _ error: Error,
    attributes: SpanAttributes,
    at instant: @autoclosure () -> Instant
  )
  var attributes: SpanAttributes { get nonmutating set }
  var isRecording: Bool { get }
  func addLink(_ link: SpanLink)
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

public struct SpanStatus: Equatable, Sendable {
  public enum Code: Sendable { case ok, error }
  public let code: Code
  public let message: String?
  public init(code: Code, message: String? = nil) {
    self.code = code
    self.message = message
  }
}

public struct SpanEvent {
  public let name: String
  public var attributes: SpanAttributes
  public let nanosecondsSinceEpoch: UInt64
  public init<Instant: TracerInstant>(
    name: String,
    at instant: @autoclosure () -> Instant,
    attributes: SpanAttributes = SpanAttributes([:])
  ) {
    self.name = name
    self.attributes = attributes
    nanosecondsSinceEpoch = instant().nanosecondsSinceEpoch
  }
}

public struct SpanLink {
  public let context: ServiceContext
  public let attributes: SpanAttributes
  public init(context: ServiceContext, attributes: SpanAttributes) {
    self.context = context
    self.attributes = attributes
  }
}

public enum SpanAttribute {
  case int32(Int32)
  case int64(Int64)
  case int32Array([Int32])
  case int64Array([Int64])
  case double(Double)
  case doubleArray([Double])
  case bool(Bool)
  case boolArray([Bool])
  case string(String)
  case stringArray([String])
  case doNotSwitchExhaustively
  case stringConvertible(any CustomStringConvertible & Sendable)
  case stringConvertibleArray([any CustomStringConvertible & Sendable])
}

public struct SpanAttributes {
  private let attributes: [String: SpanAttribute]
  public init(_ attributes: [String: SpanAttribute]) { self.attributes = attributes }
  public func forEach(_ callback: (String, SpanAttribute) -> Void) {
    for (key, value) in attributes { callback(key, value) }
  }
}
