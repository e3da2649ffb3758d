import SwitchboardBalancing

/// The metrics of a control plane that a client asks (gRFC A78).
struct DiscoveryMeter: Sendable {
  private let connected: (any MetricSeries)?
  private let failures: (any MetricSeries)?
  /// By type.
  private let valid: [(any MetricSeries)?]
  private let invalid: [(any MetricSeries)?]

  /// `nil` if all of the metrics are off.
  init?(_ scope: MetricScope, _ controlPlane: String) {
    let labelled = scope.labelled(MetricLabel.controlPlane, controlPlane)
    connected = labelled.series(of: .connected)
    failures = labelled.series(of: .failures)
    func byType(_ instrument: Instrument) -> [(any MetricSeries)?] {
      ResourceType.allCases.map {
        labelled.labelled(MetricLabel.resourceType, $0.messageName).series(of: instrument)
      }
    }
    (valid, invalid) = (byType(.valid), byType(.invalid))
    guard connected != nil || failures != nil || valid[0] != nil || invalid[0] != nil else { return nil }
  }

  func record(_ news: DiscoveryTally.News) {
    if let isConnected = news.isConnected { connected?.record(isConnected ? 1 : 0) }
    if news.failures > 0 { failures?.record(Double(news.failures)) }
    for (type, count) in news.valid { valid[type.rawValue]?.record(Double(count)) }
    for (type, count) in news.invalid { invalid[type.rawValue]?.record(Double(count)) }
  }
}

/// What happens with a control plane, until it is recorded: sums, and the latest state.
struct DiscoveryTally: Sendable {
  /// What was not recorded yet.
  struct News: Sendable {
    fileprivate(set) var isConnected: Bool?
    fileprivate(set) var failures = 0
    fileprivate(set) var valid: [ResourceType: Int] = [:]
    fileprivate(set) var invalid: [ResourceType: Int] = [:]
  }

  private enum Health {
    case unknown
    case good
    case bad
  }

  private var health = Health.unknown
  private var news: News?

  /// A stream was opened. A control plane is thought to be well until the opposite is known.
  mutating func opened() { if case .unknown = health { become(.good) } }

  /// A stream has ended without a response.
  mutating func failed() {
    guard health != .bad else { return }
    become(.bad)
    add { $0.failures += 1 }
  }

  /// A response has come, with so many errors in place of resources.
  mutating func received(_ type: ResourceType, _ reads: [ResourceReader.Read], errors: Int = 0) {
    if health != .good { become(.good) }
    let refused = reads.count { if case .failure = $0.result { true } else { false } }
    add { news in
      if reads.count > refused { news.valid[type, default: 0] += reads.count - refused }
      if refused + errors > 0 { news.invalid[type, default: 0] += refused + errors }
    }
  }

  /// The stream was closed, and is not opened again for now.
  mutating func closed() { if health == .good { become(.unknown) } }

  /// What was not recorded yet, which is forgotten.
  mutating func take() -> News? {
    defer { news = nil }
    return news
  }

  private mutating func become(_ new: Health) {
    health = new
    add { $0.isConnected = new == .good }
  }

  private mutating func add(_ change: (inout News) -> Void) {
    var new = news ?? News()
    change(&new)
    news = new
  }
}

extension Instrument {
  fileprivate static let connected = client(
    "connected",
    .gauge,
    "{bool}",
    "whether the control plane is asked and can be: 0 after a stream without a response, and once it is not asked any more",
    [MetricLabel.controlPlane]
  )
  fileprivate static let failures = client(
    "server_failure",
    .counter,
    "{failure}",
    "times that a control plane could not be asked any more",
    [MetricLabel.controlPlane]
  )
  fileprivate static let valid = client(
    "resource_updates_valid",
    .counter,
    "{resource}",
    "resources in responses that were valid, also those that had not changed",
    [MetricLabel.controlPlane, MetricLabel.resourceType]
  )
  fileprivate static let invalid = client(
    "resource_updates_invalid",
    .counter,
    "{resource}",
    "resources in responses that were refused, and errors in place of resources",
    [MetricLabel.controlPlane, MetricLabel.resourceType]
  )
  static func client(
    _ name: String,
    _ kind: Kind,
    _ unit: String,
    _ description: String,
    _ labels: [String]
  ) -> Instrument {
    Instrument(
      "grpc.xds_client.\(name)",
      kind,
      unit: unit,
      description,
      labels: [MetricLabel.target] + labels
    )
  }
}
