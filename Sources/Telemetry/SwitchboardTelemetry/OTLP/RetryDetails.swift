import SwitchboardProtobuf
import SwitchboardText

/// The time to wait in the details of a status. `SwitchboardServices` can read all details, but telemetry needs only
/// this one and does not depend on that module.
struct RetryDetails {
  private(set) var delay: Duration?

  private static let type = "google.rpc.RetryInfo"

  /// Reads a `google.rpc.Status`, whose third field contains details as `Any`.
  init(_ bytes: [UInt8]) throws {
    let details = EncodedFields.values(of: 3, in: bytes)
    for detail in details.prefix(32) {
      let any = try Google_Protobuf_Any(serializedBytes: detail)
      guard (any.typeURL.part(afterLast: "/") ?? any.typeURL[...]).isExactly(Self.type),
        let span = EncodedFields.values(of: 1, in: any.value).first
      else { continue }
      let duration = try Google_Protobuf_Duration(serializedBytes: span)
      // A collector must not make this process wait for hours.
      delay = min(.seconds(max(0, duration.seconds)) + .nanoseconds(max(0, duration.nanos)), .seconds(300))
    }
  }
}

extension EncodedFields {
  /// The values of a length-delimited field. Stops at bytes that are not a field, and at groups.
  fileprivate static func values(of number: Int32, in bytes: [UInt8]) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var fields = EncodedFields(bytes[...])
    while let field = fields.next() {
      switch field.value {
      case .bytes(let value): if field.number == number { values.append(Array(value)) }
      case .varint, .fixed64, .fixed32: break
      case .startGroup, .endGroup: return values
      }
    }
    return values
  }
}
