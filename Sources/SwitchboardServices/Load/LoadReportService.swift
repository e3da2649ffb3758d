import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

/// Sends the load of a server to the clients that ask for it, at their intervals:
/// `xds.service.orca.v3.OpenRcaService`.
///
/// ```swift
/// let recorder = LoadRecorder()
/// let server = try Server(providers: [ShopProvider(), LoadReportService(recorder)])
/// recorder.update { $0.cpuUtilization = 0.4 }
/// ```
/// Each stream counts as one of its connection's concurrent calls, and ends when the server shuts down.
public final class LoadReportService: Xds_Service_Orca_V3_OpenRcaServiceProvider {
  public var interceptors: Interceptors? { nil }

  private let recorder: LoadRecorder
  private let minimumInterval: Duration
  private let time: any CallTime
  private let streams = Locked(ReportStreams())

  /// Creates a service that reports what `recorder` holds. A client that asks for reports more often than every
  /// `minimumInterval`, or does not say how often, gets them at this interval.
  public convenience init(_ recorder: LoadRecorder, minimumInterval: Duration = .seconds(30)) {
    self.init(recorder, minimumInterval: minimumInterval, time: SystemTime())
  }

  init(_ recorder: LoadRecorder, minimumInterval: Duration, time: any CallTime) {
    self.recorder = recorder
    self.minimumInterval = minimumInterval
    self.time = time
  }

  public func serverIsShuttingDown() { streams.withLock { $0.shutDown() } }

  var streamCount: Int { streams.withLock(\.count) }

  public func streamCoreMetrics(
    request: Xds_Service_Orca_V3_OrcaLoadReportRequest,
    responseStream: ResponseStreamWriter<Xds_Data_Orca_V3_OrcaLoadReport>,
    context: ServerCallContext
  ) async throws {
    // A client that reads slowly gets fewer reports.
    let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = streams.withLock { $0.add(continuation) }
    let ticker = tick(every: interval(for: request), continuation, on: context.eventLoop)
    defer {
      ticker.cancel()
      streams.withLock { $0.remove(id) }
    }
    continuation.yield()
    for await _ in ticks { try await responseStream.send(Xds_Data_Orca_V3_OrcaLoadReport(recorder.report)) }
    guard !context.isCancelled else { return }
    throw GRPCStatus(code: .unavailable, message: "the server is shutting down")
  }

  private func tick(
    every interval: Duration,
    _ continuation: ReportStreams.Ticks,
    on loop: any EventLoop
  ) -> Task<Void, any Error> {
    Task(executorPreference: loop) { [time] in
      var next = time.now
      while true {
        // Missed ticks are skipped.
        next = max(next.advanced(by: interval), time.now)
        try await time.sleep(until: next, on: loop)
        continuation.yield()
      }
    }
  }

  /// Intervals are limited, since a sum beyond the range of an instant would trap.
  private static let intervals = Duration.milliseconds(1)...Duration.seconds(1 << 40)

  private func interval(for request: Xds_Service_Orca_V3_OrcaLoadReportRequest) -> Duration {
    let longest = max(Duration(request.reportInterval), minimumInterval, Self.intervals.lowerBound)
    return min(longest, Self.intervals.upperBound)
  }
}

/// The streams of a `LoadReportService`.
private struct ReportStreams {
  /// Receives a value each time a stream should report.
  typealias Ticks = AsyncStream<Void>.Continuation

  private var streams: [Int: Ticks] = [:]
  private var nextID = 0
  private var isShutDown = false

  var count: Int { streams.count }

  mutating func add(_ stream: Ticks) -> Int {
    defer { nextID += 1 }
    if isShutDown { stream.finish() } else { streams[nextID] = stream }
    return nextID
  }

  mutating func remove(_ id: Int) { streams[id] = nil }

  mutating func shutDown() {
    isShutDown = true
    for stream in streams.values { stream.finish() }
    streams = [:]
  }
}

extension Xds_Data_Orca_V3_OrcaLoadReport {
  fileprivate init(_ report: LoadReport) {
    self.init()
    cpuUtilization = report.cpuUtilization
    memUtilization = report.memoryUtilization
    applicationUtilization = report.applicationUtilization
    rpsFractional = report.queriesPerSecond
    eps = report.errorsPerSecond
    utilization = report.utilization
    namedMetrics = report.namedMetrics
  }
}
