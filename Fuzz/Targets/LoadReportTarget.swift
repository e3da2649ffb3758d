import SwitchboardBalancing
import SwitchboardCall

/// The loads that servers report of themselves.
enum LoadReportTarget {
  static func run(_ input: [UInt8]) throws {
    guard let report = LoadReport(serializedBytes: input) else { return }
    let numbers = [
      report.cpuUtilization, report.memoryUtilization, report.applicationUtilization, report.queriesPerSecond,
      report.errorsPerSecond,
    ]
    let isValid =
      (numbers + report.utilization.values).allSatisfy { $0.isFinite && $0 >= 0 }
      && report.requestCost.values.allSatisfy(\.isFinite) && report.namedMetrics.values.allSatisfy(\.isFinite)
    try BrokenPromise.unless(isValid, "\(report) has numbers that mean nothing")
    let again = LoadReport(serializedBytes: report.serializedBytes)
    try BrokenPromise.unless(again == report, "\(report) becomes \(String(describing: again))")
    // One byte of a name that is not UTF-8 becomes three.
    try BrokenPromise.unless(
      report.serializedBytes.count <= 3 * input.count,
      "\(input.count) bytes are written as \(report.serializedBytes.count)"
    )
    let all = report.completed(by: report)
    try BrokenPromise.unless(all == report, "\(report) completed by itself becomes \(all)")
  }
}
