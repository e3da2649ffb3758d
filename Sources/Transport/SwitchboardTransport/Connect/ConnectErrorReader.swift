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
    var (code, message) = (inferred.code, inferred.message)
    if case .string(let name)? = members["code"] {
      code = ConnectCode.code(name) ?? code
      message = nil
    }
    if case .string(let text)? = members["message"] { message = PeerText.harmless(text) }
    var status = GRPCStatus(code: code, message: message, origin: inferred.origin)
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
