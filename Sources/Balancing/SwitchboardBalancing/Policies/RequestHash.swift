import SwitchboardCall

/// Computes the hash of a call from a metadata field.
package struct RequestHash: Sendable {
  /// The field's name, in lower case.
  private let name: [UInt8]

  package init(header: String) { name = Array(header.utf8) }

  /// The hash of the field's value; several values are joined with commas. `nil` without such a field.
  package func hash(of metadata: HPACKHeaders) -> UInt64? {
    guard !name.isEmpty else { return nil }
    var first: Int?
    for index in 0..<metadata.fieldCount where isName(at: index, of: metadata) {
      if let first { return hashAll(of: metadata, from: first) }
      first = index
    }
    return first.map { metadata.withField(at: $0) { XXHash64.hash($1.span) } }
  }

  private func isName(at index: Int, of metadata: HPACKHeaders) -> Bool {
    metadata.withField(at: index) { field, _ in field.count == name.count && field.elementsEqual(name) }
  }

  private func hashAll(of metadata: HPACKHeaders, from first: Int) -> UInt64 {
    var joined: [UInt8] = []
    for index in first..<metadata.fieldCount where isName(at: index, of: metadata) {
      if index > first { joined.append(UInt8(ascii: ",")) }
      metadata.withField(at: index) { joined.append(contentsOf: $1) }
    }
    return XXHash64.hash(joined.span)
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
