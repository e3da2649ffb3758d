import SwitchboardCall

/// The names of status codes in reports.
package enum StatusName {
  /// The name of a code, or the number of one that gRPC does not define.
  package static func of(_ code: Int) -> String { GRPCStatus.Code(rawValue: code)?.specName ?? "\(code)" }
}
