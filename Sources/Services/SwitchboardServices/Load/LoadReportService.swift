import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages
import Synchronization

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
  private let streams = Atomic(0)

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

  var streamCount: Int { streams.load(ordering: .relaxed) }

  public func streamCoreMetrics(
    request: Xds_Service_Orca_V3_OrcaLoadReportRequest,
    responseStream: ResponseStreamWriter<Xds_Data_Orca_V3_OrcaLoadReport>,
    context: ServerCallContext
  ) async throws {
    // A client that reads slowly gets fewer reports.
    let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    streams.add(1, ordering: .relaxed)
    let ticker = tick(every: interval(for: request), continuation, on: context.eventLoop)
    defer {
      ticker.cancel()
      streams.subtract(1, ordering: .relaxed)
    }
    continuation.yield()
    try await context.withShutdownHandler {
      for await _ in ticks {
        try await responseStream.send(Xds_Data_Orca_V3_OrcaLoadReport(recorder.report))
      }
    } onShutdown: {
      continuation.finish()
    }
    guard !context.isCancelled else { return }
    throw GRPCStatus(code: .unavailable, message: "the server is shutting down")
  }

  private func tick(
    every interval: Duration,
    _ continuation: AsyncStream<Void>.Continuation,
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
