import SwitchboardCall

/// A detail of a status, as protocols such as Connect list them: its type and its bytes.
///
/// gRPC sends details in a serialized `google.rpc.Status`, which is `GRPCStatus.packedDetails`.
package struct StatusDetail: Equatable, Sendable {
  /// The full name, such as `google.rpc.RetryInfo`.
  package let type: String
  package let value: [UInt8]

  package init(type: String, value: [UInt8]) {
    self.type = type
    self.value = value
  }

  private static let prefix = "type.googleapis.com/"

  /// The details in a serialized `google.rpc.Status`; empty if the bytes are not one.
  package static func unpack(_ status: [UInt8]) -> [StatusDetail] {
    var reader = FieldReader(status[...])
    var details: [StatusDetail] = []
    while let field = reader.next() {
      guard field.number == 3, var any = field.value.message else { continue }
      var (url, value) = ("", [UInt8]())
      while let field = any.next() {
        if field.number == 1, let text = field.value.text { url = text }
        if field.number == 2, case .bytes(let bytes) = field.value { value = Array(bytes) }
      }
      let name = url.utf8.lastIndex(of: UInt8(ascii: "/")).map { url[url.utf8.index(after: $0)...] }
      details.append(StatusDetail(type: String(name ?? url[...]), value: value))
    }
    return reader.isBroken ? [] : details
  }

  /// A serialized `google.rpc.Status` with these details; `nil` without any.
  package static func pack(_ details: [StatusDetail], of status: GRPCStatus) -> [UInt8]? {
    guard !details.isEmpty else { return nil }
    var writer = FieldWriter()
    writer.add(1, UInt64(status.code.rawValue))
    if let message = status.message { writer.add(2, Array(message.utf8)) }
    for detail in details {
      var any = FieldWriter()
      any.add(1, Array((prefix + detail.type).utf8))
      if !detail.value.isEmpty { any.add(2, detail.value) }
      writer.add(3, any.bytes)
    }
    return writer.bytes
  }
}
