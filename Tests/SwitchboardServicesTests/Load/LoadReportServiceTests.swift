import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardServices

@Suite(.timeLimit(.minutes(5))) struct LoadReportServiceTests {
  private typealias Client = Xds_Service_Orca_V3_OpenRcaServiceClient
  private typealias Request = Xds_Service_Orca_V3_OrcaLoadReportRequest
  private typealias Report = Xds_Data_Orca_V3_OrcaLoadReport

  private let recorder = LoadRecorder()
  private let time = ManualTime()

  private func service(minimum: Duration = .seconds(30)) -> LoadReportService {
    LoadReportService(recorder, minimumInterval: minimum, time: time)
  }

  private func every(_ seconds: Int64) -> Request {
    .with { $0.reportInterval = .init(seconds: seconds) }
  }

  @Test func reportsAtOnceAndAtIntervals() async throws {
    recorder.update {
      $0.cpuUtilization = 0.5
      $0.memoryUtilization = 0.25
      $0.applicationUtilization = 2
      $0.queriesPerSecond = 100
      $0.errorsPerSecond = 1
      $0.utilization = ["disk": 0.75]
      $0.namedMetrics = ["credit": -1]
      $0.requestCost = ["of no call": 1]
    }
    let full = Report.with {
      $0.cpuUtilization = 0.5
      $0.memUtilization = 0.25
      $0.applicationUtilization = 2
      $0.rpsFractional = 100
      $0.eps = 1
      $0.utilization = ["disk": 0.75]
      $0.namedMetrics = ["credit": -1]
    }
    try await withChannel(to: [service()]) { channel async throws in
      var reports = Client(channel: channel).streamCoreMetrics(every(60)).makeAsyncIterator()
      #expect(try await reports.next() == full)
      #expect(await time.nextWait() == .seconds(60))
      time.advance(by: .seconds(60))
      // Also what has not changed.
      #expect(try await reports.next() == full)
      #expect(await time.nextWait() == .seconds(60))
      recorder.update {
        $0.cpuUtilization = .nan
        $0.memoryUtilization = -1
        $0.utilization["disk"] = .infinity
      }
      time.advance(by: .seconds(60))
      let changed = try #require(try await reports.next())
      #expect(changed.cpuUtilization == 0)
      #expect(changed.memUtilization == 0)
      #expect(changed.utilization.isEmpty)
      #expect(changed.rpsFractional == 100)
    }
  }

  @Test(
    arguments: [
      (Request(), 30), (.with { $0.reportInterval = .init(seconds: 29, nanos: 999_999_999) }, 30),
      (.with { $0.reportInterval = .init(seconds: -100, nanos: -1) }, 30),
      (.with { $0.reportInterval = .init(seconds: .min, nanos: .min) }, 30),
      (.with { $0.reportInterval = .init(seconds: 31) }, 31),
      (.with { $0.reportInterval = .init(seconds: .max, nanos: .max) }, 1 << 40),
    ] as [(Request, Int)]
  )
  private func intervalsAreLimited(_ request: Request, _ seconds: Int) async throws {
    try await withChannel(to: [service()]) { channel async throws in
      var reports = Client(channel: channel).streamCoreMetrics(request).makeAsyncIterator()
      #expect(try await reports.next() == Report())
      #expect(await time.nextWait() == .seconds(seconds))
    }
  }

  @Test func aServiceWithoutAMinimumDoesNotSpin() async throws {
    try await withChannel(to: [service(minimum: .zero)]) { channel async throws in
      var reports = Client(channel: channel).streamCoreMetrics(Request()).makeAsyncIterator()
      #expect(try await reports.next() == Report())
      #expect(await time.nextWait() == .milliseconds(1))
    }
  }

  @Test func shuttingDownEndsStreams() async throws {
    let service = service()
    try await withPair([service]) { pair async throws in
      var reports = Client(channel: pair.channel).streamCoreMetrics(Request()).makeAsyncIterator()
      #expect(try await reports.next() == Report())
      // Calls in progress may take an hour: the stream must not.
      await pair.server.shutDown(grace: .seconds(3600))
      #expect(await status { _ = try await reports.next() }?.code == .unavailable)
      #expect(service.streamCount == 0)
    }
  }

  @Test func aStreamThatIsGoneIsForgotten() async throws {
    let service = service()
    try await withChannel(to: [service]) { channel async throws in
      let call = Client(channel: channel).makeStreamCoreMetricsCall(Request())
      var reports = call.responseStream.makeAsyncIterator()
      #expect(try await reports.next() == Report())
      #expect(await time.nextWait() == .seconds(30))
      #expect(service.streamCount == 1)
      #expect(time.sleeperCount == 1)
      call.cancel()
      while !Task.isCancelled, service.streamCount > 0 || time.sleeperCount > 0 { await Task.yield() }
    }
  }

  /// Each stream is a call like others, of which a connection may have so many.
  @Test func aConnectionHasAsManyStreamsAsCalls() async throws {
    let service = service()
    var options = ServerOptions()
    options.maxConcurrentStreams = 3
    var ofChannel = ChannelOptions()
    ofChannel.maxConnections = 1
    try await withChannel(to: [service], options: options, channel: ofChannel) { channel async throws in
      let client = Client(channel: channel)
      let calls = (0..<5).map { _ in client.makeStreamCoreMetricsCall(Request()) }
      for call in calls.prefix(3) {
        var reports = call.responseStream.makeAsyncIterator()
        #expect(try await reports.next() == Report())
      }
      #expect(service.streamCount == 3)
      calls[0].cancel()
      var reports = calls[3].responseStream.makeAsyncIterator()
      #expect(try await reports.next() == Report())
      #expect(service.streamCount <= 3)
    }
  }
}
