import SwitchboardCall

/// Computes the hash of a call from a metadata field.
package struct RequestHash: Sendable {
  /// `nil` if the name is empty.
  private let field: MetadataField?

  /// Whether it has a field to look for.
  var isUsed: Bool { field != nil }

  /// The name is in lower case.
  package init(header: String) { field = header.isEmpty ? nil : MetadataField(name: Array(header.utf8)) }

  /// The hash of the field's value. `nil` without such a field.
  package func hash(of metadata: HPACKHeaders) -> UInt64? {
    field?.withValue(in: metadata) { value in value.map { XXHash64.hash($0.span) } }
  }

  /// Whether the transport sends a header of this name itself, after the choice of a server, so that no metadata has it.
  static func isOfTransport(header: String) -> Bool {
    header.utf8.starts(with: "grpc-".utf8)
      || ["content-type", "host", "te", "user-agent"].contains { $0.utf8.elementsEqual(header.utf8) }
  }

  /// Whether the text is a valid name of a metadata field with text values.
  static func isValid(header: String) -> Bool {
    !header.isEmpty && !header.hasSuffix("-bin")
      && header.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
      }
  }
}
