import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry

/// Has another share of a method's traces recorded, for some minutes.
struct SamplingAction: ConsoleAction {
  static let name = "sampling"
  static let permission = ConsolePermission.sampling

  let telemetry: Telemetry?
  let entries: ConsoleEntries

  private static let longest = 1440.0

  func summary(of request: Switchboard_Console_V1_SamplingRequest) -> String? {
    guard request.hasShare else { return "sample \(request.method) as the options say" }
    return "record \(request.share) of the traces of \(request.method) for \(request.minutes) min"
  }

  func perform(_ request: Switchboard_Console_V1_SamplingRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_SamplingAnswer
  {
    guard let telemetry else { throw Self.refusal(Self.missing(nil)) }
    try ServedMethods.check(request.method)
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
    // Nobody knows all the methods that channels call.
    if share != nil, case let served = ServedMethods(entries), served.areWithout(request.method) {
      throw served.unknown(request.method)
    }
    let time = share == nil ? Duration.zero : .milliseconds(Int64(request.minutes * 60_000))
    guard telemetry.setSampling(ofPath: "/\(request.method)", to: share, for: time) else {
      throw GRPCStatus(
        code: .resourceExhausted,
        message: "the sampling of too many methods was changed already: let one of them go back"
      )
    }
    return Switchboard_Console_V1_SamplingAnswer()
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
