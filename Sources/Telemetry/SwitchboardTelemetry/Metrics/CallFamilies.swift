import SwitchboardBalancing
import SwitchboardCall

/// The metrics of one side's calls, with the names of gRFCs A66 and A96.
struct CallFamilies {
  private let isServer: Bool
  private var started: MetricFamily
  private var duration: MetricFamily
  private var sent: MetricFamily
  private var received: MetricFamily
  private var whole: MetricFamily
  private var retries: MetricFamily
  private var transparent: MetricFamily
  private var hedges: MetricFamily
  private var delay: MetricFamily

  /// The optional labels of attempts (gRFCs A78 and A89).
  static let optionalLabels = [MetricLabel.locality, MetricLabel.backendService]

  init(isServer: Bool) {
    self.isServer = isServer
    let (prefix, call) = isServer ? ("grpc.server.call", "call") : ("grpc.client.attempt", "attempt")
    let aCall = isServer ? "a call" : "an attempt"
    func family(_ name: String, _ kind: MetricFamily.Kind, _ unit: String, _ text: String) -> MetricFamily {
      MetricFamily(descriptor: MetricDescriptor(name, kind, unit: unit, text), points: [])
    }
    started = family(
      "\(prefix).started",
      .counter,
      "{\(call)}",
      "\(call)s that have started, whether or not they have ended"
    )
    duration = family(
      "\(prefix).duration",
      .histogram,
      "s",
      "the duration of \(aCall)"
    )
    sent = family(
      "\(prefix).sent_total_compressed_message_size",
      .histogram,
      "By",
      "the bytes of all messages that were sent in \(aCall), compressed and without framing"
    )
    received = family(
      "\(prefix).rcvd_total_compressed_message_size",
      .histogram,
      "By",
      "the bytes of all messages that were received in \(aCall), compressed and without framing"
    )
    whole = family(
      "grpc.client.call.duration",
      .histogram,
      "s",
      "the duration of a call with all its attempts"
    )
    retries = family("grpc.client.call.retries", .histogram, "{retry}", "retries of a call that had any")
    transparent = family(
      "grpc.client.call.transparent_retries",
      .histogram,
      "{transparent_retry}",
      "repetitions by the transport of a call that had any"
    )
    hedges = family("grpc.client.call.hedges", .histogram, "{hedge}", "hedges of a call that had any")
    delay = family(
      "grpc.client.call.retry_delay",
      .histogram,
      "s",
      "the time in which a call that was repeated had no attempt in progress"
    )
  }

  /// The metrics that have points.
  var all: [MetricFamily] {
    [started, duration, sent, received, whole, retries, transparent, hedges, delay].filter {
      !$0.points.isEmpty
    }
  }

  mutating func add(_ meter: CallMeter) {
    let (startedCount, cells, repetitions) = meter.read()
    if !meter.countsAttemptsOnly {
      started.points.append(MetricPoint(attributes: meter.attributes, value: .int(startedCount)))
    }
    for code in GRPCStatus.Code.allCases {
      guard let cells = cells[code.rawValue] else { continue }
      let status = Attribute("grpc.status", .string(code.specName))
      let attributes = meter.attemptAttributes + [status]
      Self.add(cells.duration, attributes, .latency, to: &duration)
      Self.add(cells.sent, attributes, .size, to: &sent)
      Self.add(cells.received, attributes, .size, to: &received)
      if !isServer { Self.add(cells.whole, meter.attributes + [status], .latency, to: &whole) }
    }
    guard let repetitions else { return }
    Self.add(repetitions.retries, meter.attributes, .retries, to: &retries)
    Self.add(repetitions.transparent, meter.attributes, .transparentRetries, to: &transparent)
    Self.add(repetitions.hedges, meter.attributes, .retries, to: &hedges)
    Self.add(repetitions.delay, meter.attributes, .latency, to: &delay)
  }

  private static func add(
    _ cells: HistogramCells,
    _ attributes: [Attribute],
    _ bounds: HistogramBounds,
    to family: inout MetricFamily
  ) {
    if cells.count > 0 { family.points.append(cells.point(attributes, bounds)) }
  }
}
