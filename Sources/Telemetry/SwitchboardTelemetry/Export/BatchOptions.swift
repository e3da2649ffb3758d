/// Limits of a queue of spans or log records. Items beyond them are dropped and counted.
public struct BatchOptions: Sendable, Hashable {
  /// The maximum number of items.
  public var queueSize = 2048
  /// The approximate maximum number of bytes that they take in memory.
  public var queueBytes = 16 * 1024 * 1024
  /// The maximum number of items in one export; no more than `queueSize`, whatever is set.
  public var batchSize = 512
  /// The longest time for which an item waits for others; less than 10 ms means 10 ms.
  public var delay = Duration.seconds(5)

  /// The defaults of OpenTelemetry.
  public init() {}
}
