/// The load of a server, as it reports it to its clients (gRFC A51): with a call, by `ServerCallContext.loadReport`, or by
/// a `LoadRecorder`.
///
/// 0 means that nothing is known. Values that are not numbers are not sent, nor are negative ones where they make no
/// sense.
public struct LoadReport: Hashable, Sendable {
  /// The share of the processors' capacity that is used: 1 is all that the server should use; more is possible.
  public var cpuUtilization = 0.0
  /// The share of the memory that is used, from 0 to 1.
  public var memoryUtilization = 0.0
  /// How busy the application considers itself, from 0; takes precedence over `cpuUtilization` where clients weigh servers.
  public var applicationUtilization = 0.0
  /// How many queries the server answers in a second.
  public var queriesPerSecond = 0.0
  /// How many of these fail.
  public var errorsPerSecond = 0.0
  /// The use of further resources, from 0 to 1, by name.
  public var utilization: [String: Double] = [:]
  /// What the call cost, by name, in units of the application's choice. Only in reports that belong to a call.
  public var requestCost: [String: Double] = [:]
  /// Anything else, by name.
  public var namedMetrics: [String: Double] = [:]

  /// Nothing is known.
  public init() {}
}

extension LoadReport {
  /// The report without invalid values: NaN, infinities, and negative utilizations and rates.
  package var valid: LoadReport {
    var valid = self
    valid.cpuUtilization = Self.valid(cpuUtilization)
    valid.memoryUtilization = Self.valid(memoryUtilization)
    valid.applicationUtilization = Self.valid(applicationUtilization)
    valid.queriesPerSecond = Self.valid(queriesPerSecond)
    valid.errorsPerSecond = Self.valid(errorsPerSecond)
    valid.utilization = utilization.filter { $0.value.isFinite && $0.value >= 0 }
    valid.requestCost = requestCost.filter(\.value.isFinite)
    valid.namedMetrics = namedMetrics.filter(\.value.isFinite)
    return valid
  }

  /// Which value is hardly meant, and why.
  package var doubt: String? {
    let shares: [(String, value: Double, most: Double)] = [
      ("cpuUtilization", cpuUtilization, 10), ("applicationUtilization", applicationUtilization, 10),
      ("memoryUtilization", memoryUtilization, 1),
    ]
    if let (name, value, _) = shares.first(where: { $0.value > $0.most }) {
      return "\(name) is \(value): it is a share, of which 1 is all, and not in percent"
    }
    let rates = [("queriesPerSecond", queriesPerSecond), ("errorsPerSecond", errorsPerSecond)]
    let unsent = (shares.map { ($0.0, $0.1) } + rates).first { Self.valid($0.1) != $0.1 }
    return unsent.map { "\($0.0) is \($0.1), which is not sent" }
  }

  private static func valid(_ number: Double) -> Double { number.isFinite && number >= 0 ? number : 0 }

  /// The report of a call. Values that it does not set are taken from the server's report.
  package func completed(by server: LoadReport) -> LoadReport {
    var all = valid
    if all.cpuUtilization == 0 { all.cpuUtilization = server.cpuUtilization }
    if all.memoryUtilization == 0 { all.memoryUtilization = server.memoryUtilization }
    if all.applicationUtilization == 0 { all.applicationUtilization = server.applicationUtilization }
    if all.queriesPerSecond == 0 { all.queriesPerSecond = server.queriesPerSecond }
    if all.errorsPerSecond == 0 { all.errorsPerSecond = server.errorsPerSecond }
    all.utilization.merge(server.utilization) { own, _ in own }
    all.namedMetrics.merge(server.namedMetrics) { own, _ in own }
    return all
  }
}
