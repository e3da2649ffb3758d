import Switchboard
import SwitchboardServices

/// Why the depot refuses. Callers get it as the status of their call.
enum Refusal: GRPCStatusTransformable {
  case unknown(parcel: UInt64)
  case missing(field: String)

  func makeGRPCStatus() -> GRPCStatus {
    switch self {
    case .unknown(let number): GRPCStatus(code: .notFound, message: "there is no parcel \(number)")
    case .missing(let field): Self.status(missing: field)
    }
  }

  private static func status(missing field: String) -> GRPCStatus {
    let message = "the order has no \(field)"
    let violation = Google_Rpc_BadRequest.FieldViolation.with { $0.field = field }
    let details = Google_Rpc_BadRequest.with { $0.fieldViolations = [violation] }
    return (try? GRPCStatus(code: .invalidArgument, message: message, details: details))
      ?? GRPCStatus(code: .invalidArgument, message: message)
  }
}

extension Depot {
  func find(_ number: UInt64) throws -> Parcels_Parcel {
    guard let parcel = parcel(number) else { throw Refusal.unknown(parcel: number) }
    return parcel
  }
}

extension Parcels_Order {
  func check() throws {
    if recipient.isEmpty { throw Refusal.missing(field: "recipient") }
    if address.isEmpty { throw Refusal.missing(field: "address") }
  }
}
