/// A metric that a component declares. Telemetry records it where it is enabled (gRFC A79).
///
/// ```swift
/// let retired = Instrument(
///   "example.retired",
///   .counter,
///   unit: "{server}",
///   "servers that the policy no longer uses",
///   optionalLabels: ["grpc.lb.locality"]
/// )
/// ```
/// A name belongs to one declaration. A different one with the same name records nothing.
public struct Instrument: Sendable, Hashable {
  /// What becomes of the recorded values.
  public enum Kind: Sendable, Hashable {
    /// They are added up. Negative ones are ignored.
    case counter
    /// They are added up.
    case upDownCounter
    /// The last one counts.
    case gauge
    /// They are counted in buckets with these upper bounds, in ascending order.
    case histogram(bounds: [Double])
  }

  /// The name, such as `grpc.lb.wrr.rr_fallback`.
  public let name: String
  /// What becomes of the recorded values.
  public let kind: Kind
  /// The unit in UCUM's notation: `s`, `By`, `{update}`.
  public let unit: String
  /// What it measures.
  public let description: String
  /// The labels that every series has. One that nothing sets is empty.
  public let labels: [String]
  /// The labels that series have only if the program asks for them.
  public let optionalLabels: [String]
  /// Whether it is recorded unless the program says otherwise.
  public let isOnByDefault: Bool

  /// A declaration. Metrics that are new, or that cost much, should be off by default.
  public init(
    _ name: String,
    _ kind: Kind,
    unit: String,
    _ description: String,
    labels: [String] = ["grpc.target"],
    optionalLabels: [String] = [],
    isOnByDefault: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.description = description
    self.labels = labels
    self.optionalLabels = optionalLabels
    self.isOnByDefault = isOnByDefault
  }
}
