import SwitchboardCall
import SwitchboardText

/// The names of status codes in the Connect protocol, and the HTTP statuses that go with them.
enum ConnectCode {
  private static let names: [GRPCStatus.Code: (name: String, httpStatus: StaticString)] = [
    .cancelled: ("canceled", "499"),
    .unknown: ("unknown", "500"),
    .invalidArgument: ("invalid_argument", "400"),
    .deadlineExceeded: ("deadline_exceeded", "504"),
    .notFound: ("not_found", "404"),
    .alreadyExists: ("already_exists", "409"),
    .permissionDenied: ("permission_denied", "403"),
    .resourceExhausted: ("resource_exhausted", "429"),
    .failedPrecondition: ("failed_precondition", "400"),
    .aborted: ("aborted", "409"),
    .outOfRange: ("out_of_range", "400"),
    .unimplemented: ("unimplemented", "501"),
    .internalError: ("internal", "500"),
    .unavailable: ("unavailable", "503"),
    .dataLoss: ("data_loss", "500"),
    .unauthenticated: ("unauthenticated", "401"),
  ]

  private static let codes = Dictionary(uniqueKeysWithValues: names.map { (ExactText($1.name), $0) })

  static func name(_ code: GRPCStatus.Code) -> String { names[code]?.name ?? "unknown" }

  static func httpStatus(_ code: GRPCStatus.Code) -> StaticString { names[code]?.httpStatus ?? "500" }

  /// `nil` if there is no such code.
  static func code(_ name: String) -> GRPCStatus.Code? { codes[name] }
}
