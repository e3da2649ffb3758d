// unsafe: bytes of metadata that a call lends for one look at them

import SwitchboardCall

/// A field of a call's metadata, which policies and rules look at as one value.
package struct MetadataField: Hashable, Sendable {
  /// In lower case.
  package let name: [UInt8]

  package init(name: [UInt8]) { self.name = name }

  /// Passes the field's value to `body`; several values are joined with commas. `nil` without such a field.
  package func withValue<Result>(
    in metadata: HPACKHeaders,
    _ body: (UnsafeBufferPointer<UInt8>?) -> Result
  ) -> Result {
    var first: Int?
    for index in 0..<metadata.fieldCount where isName(at: index, of: metadata) {
      if let first { return withJoined(metadata, from: first, body) }
      first = index
    }
    guard let first else { return body(nil) }
    return metadata.withField(at: first) { body($1) }
  }

  private func isName(at index: Int, of metadata: HPACKHeaders) -> Bool {
    metadata.withField(at: index) { field, _ in field.count == name.count && field.elementsEqual(name) }
  }

  private func withJoined<Result>(
    _ metadata: HPACKHeaders,
    from first: Int,
    _ body: (UnsafeBufferPointer<UInt8>?) -> Result
  ) -> Result {
    var joined: [UInt8] = []
    for index in first..<metadata.fieldCount where isName(at: index, of: metadata) {
      if index > first { joined.append(UInt8(ascii: ",")) }
      metadata.withField(at: index) { joined.append(contentsOf: $1) }
    }
    return joined.withUnsafeBufferPointer { body($0) }
  }
}
