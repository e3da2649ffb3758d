import SwitchboardCall
import SwitchboardText

// Why a resource cannot be had.
extension GRPCStatus {
  /// None of these can be asked, for these reasons.
  static func controlPlanesLost(_ failures: [(name: String, status: GRPCStatus)]) -> GRPCStatus {
    let reasons: String
    if failures.count == 1 {
      let (name, status) = failures[0]
      reasons = "the control plane \(name.excerpt) cannot be asked: \(status.reasonOfLoss)"
    } else {
      let list = failures.prefix(8).map { "\($0.name.excerpt): \($0.status.reasonOfLoss)" }
      reasons = "no control plane can be asked: \(list.joined(separator: "; "))"
    }
    return GRPCStatus(code: .unavailable, message: reasons, origin: .peer)
  }

  /// Why a stream with this status has brought nothing.
  var reasonOfLoss: String {
    code == .ok ? "it ended the stream" : message?.excerpt(500) ?? "\(code)"
  }

  static func missing(_ key: ResourceKey) -> GRPCStatus {
    GRPCStatus(code: .notFound, message: "there is no \(key)", origin: .peer)
  }

  static func slow(_ key: ResourceKey) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "the control plane has not sent the \(key) yet", origin: .peer)
  }

  /// The code is the control plane's, and not one of calls.
  static func withheld(_ key: ResourceKey, _ error: ResourceError) -> GRPCStatus {
    GRPCStatus(
      code: error.code,
      message: "the control plane does not send the \(key): \(error)",
      origin: .peer
    )
  }

  static func refused(_ key: ResourceKey, _ fault: ResourceFault) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "the \(key) is invalid: \(fault.description.excerpt(500))",
      origin: .peer
    )
  }
}
