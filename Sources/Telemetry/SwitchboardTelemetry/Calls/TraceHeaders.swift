import SwitchboardCall
import SwitchboardText

/// The metadata fields that carry a trace and its baggage.
struct TraceHeaders {
  private(set) var context: SpanContext?
  private(set) var baggage = Baggage()

  enum Field {
    case traceParent, traceState, traceBin, baggage

    /// Compares the length first, because most fields are others.
    @inline(__always)
    init?(_ name: some Collection<UInt8>) {
      switch name.count {
      case 7 where name.elementsEqual("baggage".utf8): self = .baggage
      case 10 where name.elementsEqual("tracestate".utf8): self = .traceState
      case 11 where name.elementsEqual("traceparent".utf8): self = .traceParent
      case 14 where name.elementsEqual("grpc-trace-bin".utf8): self = .traceBin
      default: return nil
      }
    }
  }

  /// Reads the fields. `traceparent` takes precedence over `grpc-trace-bin`. A field that is invalid or occurs twice is
  /// ignored. `taken` is what `traceparent` says, if the transport has taken it out of `headers`.
  init(_ headers: HPACKHeaders, _ taken: SpanIdentity = .none) {
    var parent = taken.isValid ? (taken.traceID, taken.spanID, isSampled: taken.isSampled) : nil
    var parents = taken.isValid ? 1 : 0
    var binary: (TraceID, SpanID, isSampled: Bool)?
    var binaries = 0
    var states: [String] = []
    var baggages: [String] = []
    headers.forEachField { name, value in
      switch Field(name) {
      case nil: break
      case .traceParent:
        parents += 1
        parent = TraceParent.read(value)
      case .traceState: states.append(String(decoding: value, as: UTF8.self))
      case .baggage: baggages.append(String(decoding: value, as: UTF8.self))
      case .traceBin:
        binaries += 1
        if value.count <= 64 { binary = Base64.decode(value).flatMap(TraceBin.read) }
      }
    }
    let hasParent = parents == 1 && parent != nil
    if let found = hasParent ? parent : binaries == 1 ? binary : nil {
      context = SpanContext(
        traceID: found.0,
        spanID: found.1,
        isSampled: found.isSampled,
        traceState: hasParent && !states.isEmpty ? TraceState.read(states) : "",
        isRemote: true
      )
    }
    if !baggages.isEmpty { baggage = Baggage(fields: baggages) }
  }

  /// Whether metadata has fields of a trace, for instance because a handler copied it from the call that it serves.
  static func areIn(_ headers: HPACKHeaders, orBaggage: Bool = false) -> Bool {
    (0..<headers.fieldCount).contains { index in
      headers.withField(at: index) { name, _ in
        if let field = Field(name), field != .baggage || orBaggage { true } else { false }
      }
    }
  }

  /// The metadata without the fields of a trace.
  static func removed(from headers: HPACKHeaders) -> HPACKHeaders {
    var rest = headers
    for name in ["traceparent", "tracestate", "grpc-trace-bin"] { rest.remove(name: name) }
    return rest
  }
}
