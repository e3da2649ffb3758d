import SwitchboardProtobuf
import SwitchboardServices

/// The types that an `Any` may contain: those of a schema, and the common error details.
package enum DetailTypes {
  package static func registry(with schema: Schema) -> TypeRegistry {
    var types = schema.types
    for type in common { types.insert(type) }
    return types
  }

  private static let common: [any Message.Type] = [
    Google_Rpc_ErrorInfo.self, Google_Rpc_RetryInfo.self, Google_Rpc_DebugInfo.self,
    Google_Rpc_QuotaFailure.self,
    Google_Rpc_PreconditionFailure.self, Google_Rpc_BadRequest.self, Google_Rpc_RequestInfo.self,
    Google_Rpc_ResourceInfo.self, Google_Rpc_Help.self, Google_Rpc_LocalizedMessage.self,
    Google_Rpc_Status.self,
  ]
}
