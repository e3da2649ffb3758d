import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

/// `OrcaLoadReport`, written and read by hand.
@Suite struct LoadReportTests {
  private static var full: LoadReport {
    var report = LoadReport()
    report.cpuUtilization = 1.5
    report.memoryUtilization = 0.25
    report.applicationUtilization = 0.75
    report.queriesPerSecond = 1e6
    report.errorsPerSecond = 0.5
    report.utilization = ["disk": 0.5, "": 0]
    report.requestCost = ["rows": 7, "refund": -1]
    report.namedMetrics = ["ü": -3]
    return report
  }

  /// Whoever reports a percentage would weigh the server by a hundredth of what it can do.
  @Test func aPercentageIsDoubted() {
    func doubt(_ change: (inout LoadReport) -> Void) -> String? {
      var report = LoadReport()
      change(&report)
      return report.doubt
    }
    let reason = "it is a share, of which 1 is all, and not in percent"
    #expect(doubt { $0.cpuUtilization = 40 } == "cpuUtilization is 40.0: \(reason)")
    #expect(doubt { $0.applicationUtilization = 11 } == "applicationUtilization is 11.0: \(reason)")
    #expect(doubt { $0.memoryUtilization = 1.5 } == "memoryUtilization is 1.5: \(reason)")
    #expect(doubt { $0.queriesPerSecond = -1 } == "queriesPerSecond is -1.0, which is not sent")
    #expect(doubt { $0.cpuUtilization = .nan } == "cpuUtilization is nan, which is not sent")
    #expect(
      doubt {
        $0.cpuUtilization = 2.5
        $0.memoryUtilization = 1
        $0.queriesPerSecond = 5000
      } == nil
    )
  }

  @Test func reportsRoundTrip() {
    #expect(LoadReport(serializedBytes: Self.full.serializedBytes) == Self.full)
    #expect(LoadReport().serializedBytes.isEmpty)
    #expect(LoadReport(serializedBytes: []) == LoadReport())
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, -1, -.leastNonzeroMagnitude])
  func invalidNumbersAreNeitherWrittenNorRead(_ number: Double) {
    var report = LoadReport()
    report.cpuUtilization = number
    report.memoryUtilization = number
    report.applicationUtilization = number
    report.queriesPerSecond = number
    report.errorsPerSecond = number
    report.utilization = ["disk": number]
    #expect(report.serializedBytes.isEmpty)
    var writer = FieldWriter()
    for field: UInt64 in [1, 2, 6, 7, 9] { writer.add(field, number) }
    writer.add(5, ["disk": number])
    #expect(LoadReport(serializedBytes: writer.bytes) == LoadReport())
  }

  @Test func malformedBytesAreNoReport() {
    let bytes = Self.full.serializedBytes
    // Where a field ends, a shorter message does.
    let whole = (0...bytes.count).filter { LoadReport(serializedBytes: Array(bytes.prefix($0))) != nil }
    #expect(whole.count == 11)
    #expect(LoadReport(serializedBytes: [0x0B, 0x0C]) == nil)
    #expect(LoadReport(serializedBytes: Array(repeating: 0xFF, count: 100)) == nil)
    // Of another type than the field has, or unknown: skipped.
    #expect(LoadReport(serializedBytes: [0x08, 1, 0x18, 9, 0x7A, 1, 0]) == LoadReport())
  }

  /// The work grows as the bytes do, names count once, and more of them than anybody needs are not read.
  @Test func hugeReportsAreReadUpToALimit() {
    var report = LoadReport()
    for number in 0..<5000 { report.utilization["\(number)"] = 0.5 }
    #expect(LoadReport(serializedBytes: report.serializedBytes) == report)
    func empty(_ count: Int) -> [UInt8] { (0..<count).flatMap { [[0x22, 0x2A, 0x42][$0 % 3], 0] } }
    let most = LoadReport(serializedBytes: empty(LoadReport.nameLimit))
    #expect(most?.utilization == ["": 0] && most?.namedMetrics == ["": 0] && most?.requestCost == ["": 0])
    #expect(LoadReport(serializedBytes: empty(LoadReport.nameLimit + 1)) == nil)
  }

  @Test func longNamesAreLeftOut() {
    func report(_ length: Int) -> LoadReport {
      var report = LoadReport()
      report.cpuUtilization = 0.5
      report.namedMetrics = [String(repeating: "x", count: length): 1]
      return report
    }
    let (longest, longer) = (report(LoadReport.nameLengthLimit), report(LoadReport.nameLengthLimit + 1))
    #expect(LoadReport(serializedBytes: longest.serializedBytes) == longest)
    #expect(LoadReport(serializedBytes: longer.serializedBytes)?.namedMetrics == [:])
    #expect(LoadReport(serializedBytes: longer.serializedBytes)?.cpuUtilization == 0.5)
  }

  @Test func randomBytesDoNoHarm() throws {
    var random = QuickRandom(seed: 3)
    let valid = Self.full.serializedBytes
    for _ in 0..<2000 {
      var bytes = valid
      for _ in 0..<random.next(below: 6) {
        bytes[random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next(below: 256))
      }
      bytes.removeLast(random.next(below: bytes.count))
      guard let report = LoadReport(serializedBytes: bytes) else { continue }
      #expect(LoadReport(serializedBytes: report.serializedBytes) == report)
    }
  }

  @Test func aCallsReportTakesPrecedenceOverItsServers() {
    var call = LoadReport()
    call.cpuUtilization = 0.5
    call.memoryUtilization = .nan
    call.utilization = ["disk": 0.25]
    call.requestCost = ["rows": 1]
    let all = call.completed(by: Self.full)
    #expect(all.cpuUtilization == 0.5)
    #expect(all.memoryUtilization == 0.25)
    #expect(all.queriesPerSecond == 1e6)
    #expect(all.utilization == ["disk": 0.25, "": 0])
    #expect(all.requestCost == ["rows": 1])
    #expect(all.namedMetrics == ["ü": -3])
  }
}
