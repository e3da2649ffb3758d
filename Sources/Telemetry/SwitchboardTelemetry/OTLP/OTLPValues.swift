import OTLPMessages
import SwitchboardCall
import SwitchboardSchema
import SwitchboardText

typealias OTLPSpan = Opentelemetry_Proto_Trace_V1_Span
typealias OTLPMetric = Opentelemetry_Proto_Metrics_V1_Metric
typealias OTLPRecord = Opentelemetry_Proto_Logs_V1_LogRecord
typealias OTLPAttribute = Opentelemetry_Proto_Common_V1_KeyValue
typealias OTLPValue = Opentelemetry_Proto_Common_V1_AnyValue
typealias OTLPResource = Opentelemetry_Proto_Resource_V1_Resource
typealias OTLPScope = Opentelemetry_Proto_Common_V1_InstrumentationScope

/// Converts what was recorded to OTLP's messages.
struct OTLPEncoder: Sendable {
  let clock: TelemetryClock
  /// Whether the messages will be written as JSON, where OTLP has identities in hexadecimal.
  let isForJSON: Bool

  /// The bytes of an identity. Protobuf's JSON writes bytes in base64. For JSON, this returns the bytes whose base64 is
  /// the hexadecimal text, which exist because hexadecimal digits are also digits of base64.
  private func identity(_ bytes: [UInt8], _ text: @autoclosure () -> String) -> [UInt8] {
    isForJSON ? Base64.decode(text().utf8) ?? [] : bytes
  }

  func identity(_ trace: TraceID) -> [UInt8] { identity(trace.bytes, trace.description) }
  func identity(_ span: SpanID) -> [UInt8] { identity(span.bytes, span.description) }

  func resource(_ resource: Resource) -> OTLPResource {
    .with { $0.attributes = attributes(resource.attributes.sortedAttributes) }
  }

  var scope: OTLPScope {
    .with {
      $0.name = Resource.scopeName
      $0.version = Release.version
    }
  }

  func attributes(_ attributes: [Attribute]) -> [OTLPAttribute] {
    attributes.map { attribute in
      .with {
        $0.key = attribute.key
        $0.value = value(attribute.value)
      }
    }
  }

  private func value(_ value: AttributeValue) -> OTLPValue {
    var message = OTLPValue()
    switch value {
    case .string(let text): message.stringValue = text
    case .bool(let bool): message.boolValue = bool
    case .int(let int): message.intValue = Int64(int)
    case .double(let double): message.doubleValue = double
    case .strings(let texts): message.arrayValue = .with { $0.values = texts.map { self.value(.string($0)) } }
    }
    return message
  }

  // MARK: Spans

  func span(_ record: SpanRecord) -> OTLPSpan {
    .with { span in
      span.traceID = identity(record.context.traceID)
      span.spanID = identity(record.context.spanID)
      if let parent = record.parent { span.parentSpanID = identity(parent) }
      span.traceState = record.context.traceState
      span.flags = flags(isSampled: true, isRemote: record.hasRemoteParent)
      span.name = record.state.name
      span.kind = OTLPSpan.SpanKind(rawValue: record.kind.rawValue) ?? .internal
      span.startTimeUnixNano = clock.date(of: record.start)
      span.endTimeUnixNano = clock.date(of: record.end)
      span.attributes = attributes(record.state.attributes)
      span.droppedAttributesCount = UInt32(clamping: record.state.droppedAttributes)
      span.events = record.state.events.map(event)
      span.droppedEventsCount = UInt32(clamping: record.state.droppedEvents)
      span.links = record.state.links.map(link)
      if let failure = record.state.failure {
        span.status = .with {
          $0.code = .error
          $0.message = failure
        }
      }
    }
  }

  /// The flags of a span, with whether its parent is remote, or of a link, with whether what it leads to is.
  private func flags(isSampled: Bool, isRemote: Bool) -> UInt32 {
    (isSampled ? 1 : 0) | 0x100 | (isRemote ? 0x200 : 0)
  }

  private func event(_ event: Span.Event) -> OTLPSpan.Event {
    .with {
      $0.timeUnixNano = clock.date(of: event.time)
      $0.name = event.name
      $0.attributes = attributes(event.attributes)
    }
  }

  private func link(_ context: SpanContext) -> OTLPSpan.Link {
    .with {
      $0.traceID = identity(context.traceID)
      $0.spanID = identity(context.spanID)
      $0.traceState = context.traceState
      $0.flags = flags(isSampled: context.isSampled, isRemote: context.isRemote)
    }
  }

  // MARK: Logs

  func record(_ record: LogRecord) -> OTLPRecord {
    .with { message in
      message.timeUnixNano = record.date
      message.observedTimeUnixNano = record.date
      message.severityNumber = .init(rawValue: record.level.severity) ?? .unspecified
      message.severityText = record.level.label
      message.body.stringValue = record.message
      message.attributes = attributes(record.attributes)
      guard let context = record.context else { return }
      message.traceID = identity(context.traceID)
      message.spanID = identity(context.spanID)
      message.flags = context.isSampled ? 1 : 0
    }
  }
}
