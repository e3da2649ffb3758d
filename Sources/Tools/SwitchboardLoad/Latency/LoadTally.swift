import LoadMessages
import Switchboard

/// The measurements of a run: of one loop, or the sum over all.
package struct LoadTally: Sendable, Equatable {
  /// The time from when a call was due to its end.
  package var latency = LatencyHistogram()
  /// The part of it that failed calls took.
  package private(set) var failedLatency = LatencyHistogram()
  /// The time from the start of a call to its end; only in an open loop.
  package var serviceTime = LatencyHistogram()
  /// How late calls were started if they did not have to wait for others; only in an open loop.
  package var lateness = LatencyHistogram()
  package var series = TimeSeries()
  /// The counts, indexed by status code.
  package private(set) var statuses = [StatusCount](repeating: StatusCount(), count: 17)
  package var requests: UInt64 = 0
  package var responses: UInt64 = 0
  package var missed: UInt64 = 0
  /// The time by which the rate divides, in nanoseconds since the end of the warm-up: until the last call was started, or
  /// somewhat longer, but not until the last call ended if the others had to wait for it.
  package var length: UInt64 = 0
  /// How many calls had ended by then.
  package private(set) var timely: UInt64 = 0

  package init() {}

  /// Counts a call. `ended` is the time since the end of the warm-up; `isLast` says that no further calls are started.
  package mutating func add(_ call: EndedLoadCall, at ended: UInt64, isLast: Bool = false) {
    latency.add(call.latency)
    // Among the last calls may be one that takes very long. The time in which nothing else happens is no part of the
    // rate: it ends when the rate was highest.
    if !isLast || Double(calls) * Double(length) >= Double(timely) * Double(ended) {
      (timely, length) = (calls, ended)
    }
    if call.status != nil { failedLatency.add(call.latency) }
    let code = call.status?.code.rawValue ?? 0
    statuses[code].calls &+= 1
    if let message = call.status?.message { statuses[code].sample(message) }
    series.add(at: ended, latency: call.latency, failed: code != 0)
    requests &+= call.requests
    responses &+= call.responses
  }

  package mutating func add(_ other: LoadTally) {
    latency.add(other.latency)
    failedLatency.add(other.failedLatency)
    serviceTime.add(other.serviceTime)
    lateness.add(other.lateness)
    series.add(other.series)
    for (code, count) in other.statuses.enumerated() where count.calls > 0 {
      statuses[code].calls &+= count.calls
      for message in count.samples { statuses[code].sample(message) }
    }
    requests &+= other.requests
    responses &+= other.responses
    missed &+= other.missed
    timely &+= other.timely
    length = max(length, other.length)
  }

  package var calls: UInt64 { latency.count }

  /// The latency of the calls that succeeded.
  package var succeededLatency: LatencyHistogram {
    failedLatency.count == 0 ? latency : latency.since(failedLatency)
  }

  package var errors: UInt64 { statuses.dropFirst().reduce(0) { $0 &+ $1.calls } }

  /// The number of calls that ended per second.
  package var rate: Double { length == 0 ? 0 : Double(timely) * 1e9 / Double(length) }

  /// Whether calls were due at a rate.
  package var isOpenLoop: Bool { serviceTime.count > 0 }

  /// Whether calls were started so late that the delay explains half of the 99th percentile or more: the latencies are
  /// then those of the generator rather than of the server.
  package var isGeneratorLate: Bool {
    lateness.count > 0 && lateness.quantile(0.99) * 2 >= latency.quantile(0.99)
  }

  /// The share of the calls that failed.
  package var errorShare: Double { calls == 0 ? 0 : Double(errors) / Double(calls) }
}

/// A call that has ended. Times are in nanoseconds.
package struct EndedLoadCall: Sendable {
  package var latency: UInt64
  /// Nil if it succeeded.
  package var status: GRPCStatus?
  package var requests: UInt64
  package var responses: UInt64

  package init(latency: UInt64, status: GRPCStatus? = nil, requests: UInt64 = 1, responses: UInt64 = 1) {
    self.latency = latency
    self.status = status
    self.requests = requests
    self.responses = responses
  }
}

// MARK: - Messages

extension LoadTally {
  package var message: LoadTestMeasurements {
    .with {
      $0.seconds = Double(length) / 1e9
      $0.latency = latency.message
      if failedLatency.count > 0 { $0.failedLatency = failedLatency.message }
      if serviceTime.count > 0 { $0.serviceTime = serviceTime.message }
      if lateness.count > 0 { $0.lateness = lateness.message }
      for (code, count) in statuses.enumerated() where count.calls > 0 {
        $0.statuses.append(
          .with {
            $0.code = UInt32(code)
            $0.calls = count.calls
            $0.sample = count.samples.first ?? ""
            $0.moreSamples = Array(count.samples.dropFirst())
          }
        )
      }
      $0.series = series.message
      $0.requests = requests
      $0.responses = responses
      $0.missed = missed
      $0.timely = timely
    }
  }

  /// Nil for measurements that no run can produce.
  package init?(_ message: LoadTestMeasurements) {
    self.init()
    guard let latency = LatencyHistogram(message.latency),
      let failedLatency = LatencyHistogram(message.failedLatency), failedLatency.isPart(of: latency),
      let serviceTime = LatencyHistogram(message.serviceTime),
      let lateness = LatencyHistogram(message.lateness), let series = TimeSeries(message.series),
      message.seconds >= 0, message.seconds < 1e9, message.timely <= latency.count
    else { return nil }
    self.latency = latency
    self.failedLatency = failedLatency
    self.serviceTime = serviceTime
    self.lateness = lateness
    self.series = series
    var counted: UInt64 = 0
    for count in message.statuses {
      guard count.code < UInt32(statuses.count), count.calls <= latency.count else { return nil }
      let code = Int(count.code)
      guard statuses[code].calls == 0 else { return nil }
      statuses[code].calls = count.calls
      for message in [count.sample] + count.moreSamples { statuses[code].sample(message) }
      counted += count.calls
    }
    guard counted == latency.count else { return nil }
    requests = message.requests
    responses = message.responses
    missed = message.missed
    length = UInt64(message.seconds * 1e9)
    // Earlier reports do not have it: their time ends with the last call.
    timely = message.timely > 0 ? message.timely : latency.count
  }
}
