import SwitchboardCall
import SwitchboardText
import XDSMessages

/// Why a control plane does not send a resource, as it says itself (gRFC A88).
struct ResourceError: Hashable, Sendable {
  let name: String
  let code: GRPCStatus.Code
  let message: String

  /// Whether there is no such resource for this client. All else may pass by itself.
  var isOfData: Bool { isMissing || code == .permissionDenied }
  var isMissing: Bool { code == .notFound }
}

extension ResourceError: CustomStringConvertible {
  var description: String { message.isEmpty ? code.specName : "\(code.specName): \(message)" }
}

extension ResourceError {
  init(_ error: Envoy_Service_Discovery_V3_ResourceError) throws(ResourceFault) {
    name = try error.resourceName.name.name("resource_name.name")
    guard error.errorDetail.code != 0 else {
      throw ResourceFault("error_detail.code", "is missing, or no failure")
    }
    code = GRPCStatus.Code(rawValue: Int(error.errorDetail.code)) ?? .unknown
    message = error.errorDetail.message.excerpt(500)
  }
}
