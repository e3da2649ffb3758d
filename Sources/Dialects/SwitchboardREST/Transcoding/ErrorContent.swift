import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

/// Errors in HTTP: a status code, and a `google.rpc.Status` in JSON.
enum ErrorContent {
  static let contentType = "application/json"

  /// The types that details of errors usually have.
  static let details: [any Message.Type] = [
    Google_Rpc_ErrorInfo.self, Google_Rpc_RetryInfo.self, Google_Rpc_DebugInfo.self,
    Google_Rpc_QuotaFailure.self,
    Google_Rpc_PreconditionFailure.self, Google_Rpc_BadRequest.self, Google_Rpc_RequestInfo.self,
    Google_Rpc_ResourceInfo.self, Google_Rpc_Help.self, Google_Rpc_LocalizedMessage.self,
  ]

  /// The status in JSON. Details of unknown types are left out, because they cannot be written as JSON.
  static func json(_ status: GRPCStatus, _ options: JSONEncodingOptions) -> [UInt8] {
    var options = options
    options.alwaysPrintFieldsWithNoPresence = false
    var message = Google_Rpc_Status()
    if let packed = status.packedDetails, let rich = try? Google_Rpc_Status(serializedBytes: packed) {
      message.details = rich.details
    }
    // The status's own code and message take precedence over those in its details, as in gRPC's trailers.
    message.code = Int32(status.code.rawValue)
    message.message = status.message ?? ""
    if let json = try? message.jsonUTF8Bytes(options: options) { return json }
    message.details = message.details.filter { detail in
      (try? detail.jsonUTF8Bytes(options: options)) != nil
    }
    return (try? message.jsonUTF8Bytes(options: options)) ?? Array("{}".utf8)
  }

  /// The HTTP status for a code, as defined in `google/rpc/code.proto`.
  static func httpStatus(_ code: GRPCStatus.Code) -> Int {
    switch code {
    case .ok: 200
    case .cancelled: 499
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .deadlineExceeded: 504
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .permissionDenied: 403
    case .unauthenticated: 401
    case .resourceExhausted: 429
    case .unimplemented: 501
    case .unavailable: 503
    default: 500
    }
  }
}
