import SwitchboardBalancing
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// What there is to report of calls, with a clock that the test advances.
@Suite struct LoadStoreTests {
  private typealias Stats = Envoy_Config_Endpoint_V3_ClusterStats

  private let store = LoadStore()
  private let start = ContinuousClock.now
  private let here = Locality(region: ExactText("r"), zone: ExactText("z"), subZone: ExactText("s"))

  private func zone(_ name: String) -> Locality {
    Locality(region: ExactText(""), zone: ExactText(name), subZone: ExactText(""))
  }

  private func order(_ clusters: [String] = [], _ interval: Duration = .seconds(10)) -> LoadOrder {
    LoadOrder(
      .with {
        ($0.clusters, $0.sendAllClusters) = (clusters, clusters.isEmpty)
        $0.loadReportingInterval = Google_Protobuf_Duration(interval)
      }
    )
  }

  private func report(_ clusters: [String] = [], after seconds: Int) -> [Stats] {
    store.report(order(clusters), at: start.advanced(by: .seconds(seconds)))
  }

  private func ended(_ code: GRPCStatus.Code, _ load: LoadReport? = nil) -> CallOutcome {
    CallOutcome(status: GRPCStatus(code: code, message: nil), loadReport: load)
  }

  @Test func callsAreReportedOnce() throws {
    let cluster = store.use("c", "e", at: start)
    let counter = PlaceCounter(cluster.place(here), MetricRule([]))
    #expect(report(after: 1).isEmpty)
    for _ in 0..<5 { counter.callBegan() }
    counter.callEnded(ended(.ok))
    counter.callEnded(ended(.ok))
    counter.callEnded(ended(.notFound))
    // It was not made.
    counter.callEnded(CallOutcome(status: nil))
    let first = try #require(report(after: 8).first)
    #expect(
      first.clusterName == "c" && first.clusterServiceName == "e" && first.loadReportInterval.seconds == 7
    )
    let place = try #require(first.upstreamLocalityStats.first)
    #expect(first.upstreamLocalityStats.count == 1 && !counter.wantsLoadReport)
    #expect(place.locality.region == "r" && place.locality.zone == "z" && place.locality.subZone == "s")
    #expect(place.totalIssuedRequests == 4 && place.totalRequestsInProgress == 1)
    #expect(place.totalSuccessfulRequests == 2 && place.totalErrorRequests == 1)
    let second = try #require(report(after: 18).first?.upstreamLocalityStats.first)
    #expect(second.totalIssuedRequests == 0 && second.totalRequestsInProgress == 1)
    counter.callEnded(ended(.ok))
    let third = try #require(report(after: 28).first?.upstreamLocalityStats.first)
    #expect(third.totalSuccessfulRequests == 1 && third.totalRequestsInProgress == 0)
    #expect(report(after: 38).isEmpty)
  }

  @Test func dropsAreReportedByCategory() throws {
    let cluster = store.use("c", "", at: start)
    for category in ["a", "b", "a", nil] { cluster.dropped(category) }
    let report = try #require(report(after: 1).first)
    #expect(report.totalDroppedRequests == 4 && report.upstreamLocalityStats.isEmpty)
    #expect(
      Dictionary(uniqueKeysWithValues: report.droppedRequests.map { ($0.category, $0.droppedCount) })
        == ["a": 2, "b": 1]
    )
    #expect(self.report(after: 2).isEmpty)
  }

  /// Others wait until they are asked for.
  @Test func theClustersThatAreAskedForAreReported() {
    for name in ["a", "b"] { store.use(name, "", at: start).dropped(nil) }
    #expect(report(["b"], after: 1).map(\.clusterName) == ["b"])
    #expect(report(after: 5).map { "\($0.clusterName) \($0.loadReportInterval.seconds)" } == ["a 5"])
    #expect(order([], .zero).interval == .seconds(1) && order([], .milliseconds(10)).interval == .seconds(1))
    #expect(order([], .seconds(300_000_000_000)).interval == .seconds(86400))
    #expect(order([], .seconds(-1)).interval == .seconds(1))
  }

  @Test(
    arguments: [
      ([], [:]), (["named_metrics.*"], ["named_metrics.a": [2, 4], "named_metrics.b": [1, -1]]),
      (["named_metrics.b", "named_metrics.c", "rps"], ["named_metrics.b": [1, -1]]),
      (
        ["cpu_utilization", "mem_utilization", "application_utilization"],
        ["cpu": [2, 0.75], "memory": [1, 0.5], "application": [1, 2]]
      ),
    ] as [([String], [String: [Double]])]
  )
  func metricsAreReportedByTheRule(_ names: [String], _ expected: [String: [Double]]) throws {
    let counter = PlaceCounter(store.use("c", "", at: start).place(here), MetricRule(names))
    var (one, two) = (LoadReport(), LoadReport())
    (one.cpuUtilization, one.memoryUtilization, one.namedMetrics) = (0.25, 0.5, ["a": 1, "b": -1])
    (two.cpuUtilization, two.applicationUtilization, two.namedMetrics) = (0.5, 2, ["a": 3])
    #expect(counter.wantsLoadReport == !names.isEmpty)
    for load in [one, two, nil] {
      counter.callBegan()
      counter.callEnded(ended(.ok, load))
    }
    let place = try #require(report(after: 1).first?.upstreamLocalityStats.first)
    var found: [String: [Double]] = [:]
    for metric in place.loadMetricStats {
      found[metric.metricName] = [Double(metric.numRequestsFinishedWithMetric), metric.totalMetricValue]
    }
    for (name, has, metric) in [
      ("cpu", place.hasCpuUtilization, place.cpuUtilization),
      ("memory", place.hasMemUtilization, place.memUtilization),
      ("application", place.hasApplicationUtilization, place.applicationUtilization),
    ] where has {
      found[name] = [Double(metric.numRequestsFinishedWithMetric), metric.totalMetricValue]
    }
    #expect(found == expected)
  }

  /// A server may report what it likes, and others' values still count.
  @Test func sumsStayNumbers() throws {
    let cluster = store.use("c", "", at: start)
    let place = PlaceCounter(cluster.place(zone("a")), MetricRule(["cpu_utilization", "named_metrics.*"]))
    for value in [1e308, 1e308, -1e308, -1e308, -1e308, 5.0] {
      var load = LoadReport()
      load.cpuUtilization = abs(value)
      load.namedMetrics["m"] = value
      place.callBegan()
      place.callEnded(ended(.ok, load))
    }
    let stats = try #require(report(after: 1).first?.upstreamLocalityStats.first)
    let sum = try #require(stats.loadMetricStats.first)
    #expect(sum.numRequestsFinishedWithMetric == 4 && sum.totalMetricValue == -1e308)
    #expect(
      stats.cpuUtilization.numRequestsFinishedWithMetric == 2
        && stats.cpuUtilization.totalMetricValue == 1e308
    )
  }

  /// Servers choose the names.
  @Test func namesOfMetricsAreBounded() throws {
    let cluster = store.use("c", "", at: start)
    let places = ["a", "b"].map { zone in
      PlaceCounter(cluster.place(self.zone(zone)), MetricRule(["named_metrics.*"]))
    }
    func names() -> Int {
      report(after: 1).flatMap(\.upstreamLocalityStats).map(\.loadMetricStats.count).reduce(0, +)
    }
    for round in 0..<3 {
      for place in places {
        for number in 0..<20 {
          var load = LoadReport()
          for other in 0..<500 { load.namedMetrics["\(round) \(number) \(other)"] = 1 }
          load.namedMetrics[String(repeating: "x", count: 257)] = 1
          place.callBegan()
          place.callEnded(ended(.ok, load))
        }
      }
      #expect(names() == NameBudget.limit)
    }
    #expect(names() == 0)
  }

  /// Of clusters that nobody uses any more, some wait for the next report.
  @Test func whatNobodyUsesIsBounded() {
    var kept: [PlaceCounter] = []
    for number in 0..<5000 {
      let cluster = store.use("\(number)", "", at: start)
      cluster.dropped(nil)
      _ = store.release(cluster)
    }
    #expect((1...1024).contains(report(after: 1).count) && report(after: 2).isEmpty)
    let cluster = store.use("c", "", at: start)
    for number in 0..<5000 {
      let counter = PlaceCounter(cluster.place(zone("\(number)")), MetricRule([]))
      counter.callBegan()
      if number % 1000 == 0 { kept.append(counter) } else { counter.callEnded(ended(.ok)) }
    }
    #expect(store.release(cluster))
    #expect((5...1024).contains(report(after: 3).first?.upstreamLocalityStats.count ?? 0))
    // Calls that have not ended are reported until they do.
    #expect(report(after: 4).first?.upstreamLocalityStats.count == 5)
    for counter in kept { counter.callEnded(ended(.ok)) }
    kept = []
    #expect(report(after: 5).first?.upstreamLocalityStats.count == 5)
    #expect(report(after: 6).isEmpty)
  }
}
