// The signatures of swift-metrics that the bridge uses.

public protocol MetricsFactory: Sendable {
  func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler
  func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> FloatingPointCounterHandler
  func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> RecorderHandler
  func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler
  func destroyCounter(_ handler: CounterHandler)
  func destroyMeter(_ handler: MeterHandler)
  func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler)
  func destroyRecorder(_ handler: RecorderHandler)
  func destroyTimer(_ handler: TimerHandler)
}

public protocol CounterHandler: AnyObject, Sendable {
  func increment(by: Int64)
  func reset()
}

public protocol FloatingPointCounterHandler: AnyObject, Sendable {
  func increment(by: Double)
  func reset()
}

public protocol RecorderHandler: AnyObject, Sendable {
  func record(_ value: Int64)
  func record(_ value: Double)
}

public protocol MeterHandler: AnyObject, Sendable {
  func set(_ value: Int64)
  func set(_ value: Double)
  func increment(by: Double)
  func decrement(by: Double)
}

public struct TimeUnit: Equatable, Sendable {}

public protocol TimerHandler: AnyObject, Sendable {
  func recordNanoseconds(_ duration: Int64)
  func preferDisplayUnit(_ unit: TimeUnit)
}

extension TimerHandler {
  public func preferDisplayUnit(_ unit: TimeUnit) {}
}
