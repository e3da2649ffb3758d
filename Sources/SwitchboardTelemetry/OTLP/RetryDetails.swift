import SwitchboardProtobuf

/// The time to wait in the details of a status. `SwitchboardServices` can read all details, but telemetry needs only
/// this one and does not depend on that module.
struct RetryDetails {
  private(set) var delay: Duration?

  private static let type = "google.rpc.RetryInfo"

  /// Reads a `google.rpc.Status`, whose third field contains details as `Any`.
  init(_ bytes: [UInt8]) throws {
    let details = WireFields(bytes).values(of: 3)
    for detail in details.prefix(32) {
      let any = try Google_Protobuf_Any(serializedBytes: detail)
      guard any.typeURL.split(separator: "/").last.map(String.init) == Self.type,
        let span = WireFields(any.value).values(of: 1).first
      else { continue }
      let duration = try Google_Protobuf_Duration(serializedBytes: span)
      // A collector must not make this process wait for hours.
      let seconds = min(max(duration.seconds, 0), 300)
      delay = .seconds(seconds) + .nanoseconds(max(0, duration.nanos))
    }
  }
}

/// The length-delimited fields of a message of unknown type.
private struct WireFields {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The values of a field. Stops at bytes that are not a field.
  func values(of number: UInt64) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var rest = bytes[...]
    while let key = Self.varint(&rest) {
      switch key & 7 {
      case 0: if Self.varint(&rest) == nil { return values }
      case 1: rest = rest.dropFirst(8)
      case 5: rest = rest.dropFirst(4)
      case 2:
        guard let length = Self.varint(&rest), length <= UInt64(rest.count) else { return values }
        if key >> 3 == number { values.append(Array(rest.prefix(Int(length)))) }
        rest = rest.dropFirst(Int(length))
      default: return values
      }
    }
    return values
  }

  private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }
}
