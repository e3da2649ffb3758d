import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry
import SwitchboardText

/// Has another share of a method's traces recorded, for some minutes.
struct SamplingAction: ConsoleAction {
  static let name = "sampling"
  static let permission = ConsolePermission.sampling

  let telemetry: Telemetry?
  let entries: ConsoleEntries

  private static let longestName = 1024
  private static let longest = 1440.0

  func summary(of request: Switchboard_Console_V1_SamplingRequest) -> String? {
    guard request.hasShare else { return "sample \(request.method) as the options say" }
    return "record \(request.share) of the traces of \(request.method) for \(request.minutes) min"
  }

  func perform(_ request: Switchboard_Console_V1_SamplingRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_SamplingAnswer
  {
    guard let telemetry else { throw Self.refusal(Self.missing(nil)) }
    guard Self.isMethod(request.method) else {
      throw GRPCStatus(code: .invalidArgument, message: "method is package.Service/Method")
    }
    let share = request.hasShare ? request.share : nil
    if let share {
      guard telemetry.recordsSpans else { throw Self.refusal(Self.missing(telemetry)) }
      guard (0...1).contains(share) else {
        throw GRPCStatus(code: .invalidArgument, message: "share is a number from 0 to 1")
      }
      guard request.minutes > 0, request.minutes <= Self.longest else {
        throw GRPCStatus(code: .invalidArgument, message: "minutes is a number above 0, up to 1440")
      }
    }
    if share != nil { try checkIsKnown(request.method) }
    let time = share == nil ? Duration.zero : .milliseconds(Int64(request.minutes * 60_000))
    guard telemetry.setSampling(ofPath: "/\(request.method)", to: share, for: time) else {
      throw GRPCStatus(
        code: .resourceExhausted,
        message: "the sampling of too many methods was changed already: let one of them go back"
      )
    }
    return Switchboard_Console_V1_SamplingAnswer()
  }

  /// Throws if a server that the console shows has the service, and not the method. Nobody knows all the methods that channels
  /// call.
  private func checkIsKnown(_ name: String) throws(GRPCStatus) {
    let served = entries.servers.flatMap { $0.server.methodPaths.values.map(LeversView.name) }
    let service = Array(name.utf8.prefix { $0 != UInt8(ascii: "/") }) + [UInt8(ascii: "/")]
    guard served.contains(where: { $0.utf8.starts(with: service) }),
      !served.contains(where: { $0.isExactly(name) })
    else { return }
    let near = NearNames(of: name, in: served.sorted { $0.precedes($1) }).best
    throw GRPCStatus(
      code: .notFound,
      message: "the service has no method of this name" + (near.map { ": did you mean \($0)?" } ?? "")
    )
  }

  private static func isMethod(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return name.utf8.count <= longestName && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
  }

  private static func refusal(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .failedPrecondition, message: reason)
  }

  /// Why traces cannot be recorded; empty if they can.
  static func missing(_ telemetry: Telemetry?) -> String {
    guard let telemetry else { return "the console has no telemetry: Console(telemetry:)" }
    guard telemetry.options.tracesCalls else {
      return "the telemetry traces no calls: TelemetryOptions.tracesCalls"
    }
    return telemetry.recordsSpans
      ? "" : "the telemetry exports no spans, so that none are recorded: TelemetryOptions.exporters"
  }
}
