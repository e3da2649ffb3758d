/// The load of a server, as it reports it to its clients (gRFC A51).
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
  /// What the call cost, by name, in units of the application's. Not in reports that belong to no call.
  public var requestCost: [String: Double] = [:]
  /// Anything else, by name.
  public var namedMetrics: [String: Double] = [:]

  /// Nothing is known.
  public init() {}
}
