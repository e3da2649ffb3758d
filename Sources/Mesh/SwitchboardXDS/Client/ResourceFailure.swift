import SwitchboardCall
import SwitchboardText

// Why a resource cannot be had.
extension GRPCStatus {
  static func controlPlaneLost(_ status: GRPCStatus) -> GRPCStatus {
    let reason = status.code == .ok ? "it ended the stream" : status.message ?? "\(status.code)"
    return GRPCStatus(
      code: .unavailable,
      message: "the control plane cannot be asked: \(reason)",
      origin: .peer
    )
  }

  static func missing(_ key: ResourceKey) -> GRPCStatus {
    GRPCStatus(code: .notFound, message: "there is no \(key)", origin: .peer)
  }

  static func slow(_ key: ResourceKey) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "the control plane has not sent the \(key) yet", origin: .peer)
  }

  static func refused(_ key: ResourceKey, _ fault: ResourceFault) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "the \(key) is invalid: \(fault.description.excerpt(500))",
      origin: .peer
    )
  }
}
