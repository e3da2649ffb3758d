import SwitchboardCall

/// How reports name status codes.
package enum StatusName {
  /// The name of a code, or the number of one that gRPC does not define.
  package static func of(_ code: Int) -> String { GRPCStatus.Code(rawValue: code)?.specName ?? "\(code)" }
}
