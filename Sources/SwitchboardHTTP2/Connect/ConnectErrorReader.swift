import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// Reads errors of the Connect protocol. Missing or unknown parts are inferred.
enum ConnectErrorReader {
  static func status(_ json: [UInt8], else inferred: GRPCStatus) -> GRPCStatus {
    guard let value = try? ConfigValue(json: String(decoding: json, as: UTF8.self), boundsText: false) else {
      return inferred
    }
    return status(value, else: inferred)
  }

  static func status(_ error: ConfigValue, else inferred: GRPCStatus) -> GRPCStatus {
    guard case .object(let members) = error else { return inferred }
    var status = inferred
    if case .string(let name)? = members["code"], let code = ConnectCode.code(name) { status.code = code }
    if case .string(let message)? = members["message"] {
      status.message = PeerText.harmless(message)
    } else if case .string? = members["code"] {
      status.message = nil
    }
    if case .array(let list)? = members["details"] {
      status.packedDetails = StatusDetail.pack(list.compactMap(detail), of: status)
    }
    return status
  }

  private static func detail(_ value: ConfigValue) -> StatusDetail? {
    guard case .object(let members) = value, case .string(let type)? = members["type"],
      case .string(let text)? = members["value"], let bytes = Base64.decode(text.utf8)
    else { return nil }
    return StatusDetail(type: type, value: bytes)
  }
}
