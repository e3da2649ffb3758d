import LoadMessages
import SwitchboardCall
import Testing

@testable import SwitchboardLoad

struct TallyTests {
  static func tally(calls: Int, seed: UInt64 = 1, from begin: Int = 0, scale: Double = 1) -> LoadTally {
    var numbers = SeededNumbers(seed: seed)
    var tally = LoadTally()
    for number in begin..<begin + calls {
      let latency = UInt64(Double.random(in: 1e6..<2e6, using: &numbers) * scale)
      var call = EndedLoadCall(latency: latency)
      if number % 100 == 0 { call.status = GRPCStatus(code: .unavailable, message: "reason \(number)") }
      tally.add(call, at: UInt64(number) * 1_000_000)
    }
    tally.length = UInt64(begin + calls) * 1_000_000
    return tally
  }

  @Test func partsAddUp() {
    var sum = Self.tally(calls: 1000)
    sum.add(Self.tally(calls: 500, from: 1000))
    #expect(sum.calls == 1500)
    #expect(sum.errors == 15)
    #expect(sum.rate == 1000)
    #expect(sum.statuses[14].samples == ["reason 0"])
    #expect(sum.series.intervals.map(\.calls) == [UInt64](repeating: 100, count: 15))
    #expect(sum.requests == 1500)
  }

  /// Messages that differ in digits only say the same.
  @Test func eachReasonIsKeptOnce() throws {
    func failed(_ messages: [String]) -> LoadTally {
      var tally = LoadTally()
      for (number, message) in messages.enumerated() {
        let status = GRPCStatus(code: .unavailable, message: message)
        tally.add(EndedLoadCall(latency: 1000, status: status), at: UInt64(number + 1) * 1000)
      }
      return tally
    }
    let long = String(repeating: "x", count: 1000)
    let reasons = ["after 10.5 ms", "no room", "after 7 ms", "", long, "no room", long + "y"]
    var tally = failed(reasons)
    let kept = ["after 10.5 ms", "no room", String(long.prefix(300))]
    #expect(tally.statuses[14].samples == kept && tally.statuses[14].calls == 7)
    tally.add(failed(["no room", "too late"]))
    #expect(tally.statuses[14].samples == kept + ["too late"])
    let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
    #expect(try LoadTestReport.read(try report.jsonString()).tally == tally)
    for text in [
      TextReport(report, tally).text, HTMLReport(report, tally).text, CSVReport.text(report, tally),
    ] {
      for reason in kept + ["too late"] { #expect(text.contains(reason), "\(reason)") }
    }
    // An agent cannot fill the report.
    #expect(failed((0..<100).map { String(repeating: "a", count: $0 + 1) }).statuses[14].samples.count == 8)
  }

  /// A server that refuses at once looks fast only if its refusals are taken for answers.
  @Test func failedCallsHaveTheirOwnLatency() throws {
    var tally = LoadTally()
    for number in 1...100 as ClosedRange<UInt64> {
      var call = EndedLoadCall(latency: 50_000_000)
      if number % 2 == 0 {
        call = EndedLoadCall(latency: 1_000_000, status: GRPCStatus(code: .unavailable, message: "no"))
      }
      tally.add(call, at: number * 1_000_000)
    }
    #expect(tally.latency.count == 100)
    #expect(tally.failedLatency.count == 50 && abs(tally.failedLatency.quantile(0.99) - 1e6) < 1e4)
    #expect(tally.succeededLatency.count == 50 && abs(tally.succeededLatency.quantile(0.1) - 50e6) < 5e5)
    var sum = tally
    sum.add(tally)
    #expect(sum.failedLatency.count == 100)
    let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
    #expect(try LoadTestReport.read(try report.jsonString()).tally == tally)
    #expect(abs((report.summary.failed.last?.latency ?? 0) - 1) < 0.01)
    #expect(abs((report.summary.succeeded.first?.latency ?? 0) - 50) < 0.5)
    let text = TextReport(report, tally).text
    #expect(text.contains("all          OK           failed\n"), "\(text)")
    let line = text.split(separator: "\n").first { $0.contains(" p99 ") }?.split(separator: " ") ?? []
    #expect(line.count == 7 && line.suffix(2) == ["1.00", "ms"], "\(text)")
    #expect(CSVReport.text(report, tally).contains("latency of failed,p99,"))
    var lie = report
    lie.measurements.failedLatency.counts = [51]
    let json = try lie.jsonString()
    #expect(throws: PayloadError.self) { try LoadTestReport.read(json) }
  }

  @Test func reportsNameTheirLatencies() {
    var tally = TallyTests.tally(calls: 1000)
    func report() -> (text: String, page: String) {
      let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
      return (TextReport(report, tally).text, HTMLReport(report, tally).text)
    }
    #expect(report().text.contains("Latency   from the start of a call to its end"))
    for _ in 0..<1000 { tally.serviceTime.add(500_000) }
    let open = report()
    #expect(open.text.contains("Latency   from when a call was due to its end"))
    #expect(open.text.contains("from start\n"))
    #expect(open.text.contains("      from          to         calls\n"))
    for axis in ["latency, logarithmic", "calls that ended per second", "percentile of the calls"] {
      #expect(open.page.contains(">\(axis)</text>"), "\(axis)")
    }
    #expect(open.page.contains("<th>from start</th>"))
  }

  /// 498 calls in two seconds, and one that is answered after ten.
  @Test func aStragglerDoesNotLowerTheRate() throws {
    var tally = LoadTally()
    for number in 1...498 as ClosedRange<UInt64> {
      tally.add(EndedLoadCall(latency: 1_000_000), at: number * 4_016_064, isLast: number > 450)
    }
    tally.add(EndedLoadCall(latency: 10_000_000_000), at: 10_000_000_000, isLast: true)
    #expect(tally.calls == 499)
    #expect(abs(tally.rate - 249) < 0.1)
    #expect(abs(Double(tally.length) - 2e9) < 1e6)
    let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
    #expect(abs(report.summary.callsPerSecond - 249) < 0.1)
    #expect(TextReport(report, tally).text.contains("499, of which 1 ended after the 2.00 s of the rate"))
    let again = try LoadTestReport.read(try report.jsonString()).tally
    #expect(again == tally)
    // A report of before has only the time of the last end.
    var old = report
    old.measurements.timely = 0
    let known = try LoadTestReport.read(try old.jsonString()).tally
    #expect(known.timely == 499)
    var lie = report
    lie.measurements.timely = 500
    let json = try lie.jsonString()
    #expect(throws: PayloadError.self) { try LoadTestReport.read(json) }
    // What the straggler adds to the series is no variation of the rate.
    let row = LoadComparison(old: tally, new: tally).rows.first { $0.metric == .rate }
    let bounds = try #require(row?.bounds)
    #expect(bounds.upperBound < 2)
  }

  /// The last calls count if they are no slower than the others: all of them, if there are no others.
  @Test(arguments: [(1, 5), (100, 5), (60, 50)]) func lastCallsCountUnlessTheyAreSlow(
    _ calls: Int,
    _ callers: Int
  ) {
    var tally = LoadTally()
    for number in 0..<calls {
      let round = UInt64(number / callers + 1)
      tally.add(
        EndedLoadCall(latency: 100_000_000),
        at: round * 100_000_000,
        isLast: number + callers >= calls
      )
    }
    #expect(tally.rate == Double(min(calls, callers)) * 10)
  }

  @Test func aServerThatIsTooSlowForARateHasItsOwn() {
    // Due within a second, all of them in progress at once, and ended at 500/s.
    var tally = LoadTally()
    for number in 1...1000 as ClosedRange<UInt64> {
      tally.add(EndedLoadCall(latency: 1), at: number * 2_000_000, isLast: number > 500)
    }
    #expect(tally.rate == 500)
  }

  @Test func latenessThatMakesTheLatenciesIsMarked() {
    var tally = Self.tally(calls: 1000)
    #expect(!tally.isOpenLoop && !tally.isGeneratorLate)
    for _ in 0..<1000 {
      tally.serviceTime.add(1_000_000)
      tally.lateness.add(100_000)
    }
    #expect(tally.isOpenLoop && !tally.isGeneratorLate)
    for _ in 0..<100 { tally.lateness.add(1_100_000) }
    #expect(tally.isGeneratorLate)
    let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
    let text = TextReport(report, tally, ink: Ink(isColored: true)).text
    #expect(text.contains("Lateness  \u{1B}[31mcalls were started "))
    #expect(HTMLReport(report, tally).text.contains(/class="bad"><b>[^<]*<\/b><span>Lateness p99/))
  }

  @Test func aLongRunHasLongerIntervals() {
    var series = TimeSeries()
    for second in 0..<10_000 as Range<UInt64> {
      series.add(at: second * 1_000_000_000, latency: second, failed: second % 2 == 0)
    }
    #expect(series.intervals.count <= TimeSeries.limit)
    #expect(series.intervals.reduce(0) { $0 + $1.calls } == 10_000)
    #expect(series.intervals.reduce(0) { $0 + $1.errors } == 5000)
    series.add(at: .max, latency: 1, failed: false)
    #expect(series.intervals.count <= TimeSeries.limit)

    var short = TimeSeries()
    short.add(at: 0, latency: 5, failed: false)
    short.add(series)
    #expect(short.length == series.length)
    #expect(short.intervals.reduce(0) { $0 + $1.calls } == 10_002)
  }

  /// What ends just after the run is no burst.
  @Test func anIntervalThatHasHardlyBegunIsNotExtrapolated() {
    var series = TimeSeries()
    for call in 0..<200 { series.add(at: UInt64(call) * 1_000_000, latency: 1, failed: false) }
    for _ in 0..<30 { series.add(at: 200_500_000, latency: 1, failed: false) }
    let picture = LoadCharts.rate(series, length: 200_000_000)
    #expect(picture.split(separator: ": 1,000/s").count == 3)
    #expect(picture.contains(": 300/s"))
    // One that is nearly whole counts as what it is.
    #expect(LoadCharts.rate(series, length: 260_000_000).contains(": 500/s"))
  }

  @Test func reportsRoundTrip() throws {
    let tally = Self.tally(calls: 2000)
    let report = LoadTestReport(tally, target: "t", method: "a/B", started: "now", load: "words")
    let (read, again) = try LoadTestReport.read(try report.jsonString())
    #expect(again == tally)
    #expect(read == report)
    #expect(report.summary.percentiles.count == LoadTestReport.percents.count)
    #expect(report.summary.calls == 2000)
  }

  @Test func reportsThatDoNotAddUpAreRefused() throws {
    let good = LoadTestReport(Self.tally(calls: 100), target: "", method: "", started: "", load: "")
    let changes: [(inout LoadTestReport) -> Void] = [
      { $0.measurements.statuses[0].calls += 1 },
      { $0.measurements.statuses[0].code = 99 },
      { $0.measurements.statuses.append($0.measurements.statuses[0]) },
      { $0.measurements.series.intervalSeconds = 0.15 },
      { $0.measurements.series.intervalSeconds = .nan },
      { $0.measurements.series.intervals[0].errors = 1000 },
      { $0.measurements.seconds = -1 },
      { $0.measurements.seconds = .infinity },
      { $0.measurements.latency.counts[0] += 1 },
      {
        $0.clearMeasurements()
        $0.measurements.statuses = [.with { $0.calls = 1 }]
      },
    ]
    for (index, change) in changes.enumerated() {
      var bad = good
      change(&bad)
      let json = try bad.jsonString()
      #expect(throws: PayloadError.self, "\(index)") { try LoadTestReport.read(json) }
    }
    #expect(throws: PayloadError.self) { try LoadTestReport.read("{") }
  }

  @Test func significantChangesAreDetected() throws {
    let old = Self.tally(calls: 20_000)
    let same = LoadComparison(old: old, new: Self.tally(calls: 20_000, seed: 2))
    for row in same.rows { #expect(!row.isSure || abs(row.change ?? 0) < 1, "\(row.metric.name)") }
    let slower = LoadComparison(old: old, new: Self.tally(calls: 20_000, seed: 3, scale: 1.1))
    for row in slower.rows where row.metric == .mean || row.metric == .percentile(99) {
      let change = try #require(row.change)
      #expect(row.isSure)
      #expect(abs(change - 10) < 1)
      #expect(row.bounds?.contains(10) == true)
    }
    let errors = try #require(slower.rows.last)
    #expect(!errors.isSure)
  }

  @Test func tooFewCallsAreNotCompared() {
    let few = LoadComparison(old: Self.tally(calls: 20), new: Self.tally(calls: 20))
    #expect(few.rows.first { $0.metric == .percentile(99.9) }?.bounds == nil)
    #expect(few.text(ink: Ink(isColored: false)).contains("too few calls to compare"))
    let none = LoadComparison(old: LoadTally(), new: LoadTally())
    #expect(none.rows.allSatisfy { $0.bounds == nil })
  }

  @Test func textsOfServersCannotMoveTheCursor() {
    var tally = LoadTally()
    let status = GRPCStatus(code: .internalError, message: "a\u{1b}[2Jb\r\nc\u{202e}d")
    tally.add(EndedLoadCall(latency: 5, status: status), at: 1)
    tally.length = 1_000_000_000
    let report = LoadTestReport(tally, target: "t", method: "m", started: "", load: "")
    let text = TextReport(report, tally).text
    #expect(text.contains(#"a\u{1B}[2Jb\r\nc\u{202E}d"#))
    #expect(!text.contains("\u{1b}"))
    #expect(!text.contains("\u{202e}"))
  }

  @Test func tablesAreValidCSV() {
    let tally = Self.tally(calls: 1000)
    let report = LoadTestReport(tally, target: "=cmd,\"x\"", method: "a/B", started: "", load: "")
    let lines = CSVReport.text(report, tally).split(separator: "\n")
    #expect(lines[0] == "section,name,value,unit")
    #expect(lines[1] == #"run,target,"'=cmd,""x""","#)
    #expect(lines.contains("summary,calls,1000,calls"))
    #expect(lines.contains("status,UNAVAILABLE,10,calls"))
    #expect(lines.contains { $0.hasPrefix("latency,p99.99,") })
  }

  @Test func logarithmsAndRootsAreAccurate() {
    #expect(abs(Root.logarithm(10) - 2.302_585_092_994_046) < 1e-12)
    #expect(abs(Root.logarithm(1e-9) + 20.723_265_836_946_41) < 1e-10)
    #expect(abs(Root.exponential(1) - 2.718_281_828_459_045) < 1e-10)
    #expect(abs(Root.exponential(-3) - 0.049_787_068_367_863_94) < 1e-10)
    #expect(abs(Root.of(1024, degree: 10) - 2) < 1e-9)
    #expect(Root.of(1, degree: 3) == 1)
  }
}
