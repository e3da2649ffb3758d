import SwitchboardCall

/// The compressions that a peer accepts.
package struct AcceptedCompressions: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What this side accepts, as gRPC lists it.
  static let offered: StaticString = "identity,deflate,gzip,zstd,br"

  /// Whether a message may be sent in it. No compression needs no permission.
  package func contains(_ compression: MessageCompression) -> Bool {
    compression == .none || contains(Self(compression))
  }

  package init(_ compression: MessageCompression) {
    self =
      switch compression {
      case .none: []
      case .gzip: Self(rawValue: 1)
      case .deflate: Self(rawValue: 2)
      case .zstd: Self(rawValue: 4)
      case .brotli: Self(rawValue: 8)
      }
  }

  /// Adds what a header lists: names, separated by commas, of which one without a quality above zero does not count.
  package mutating func add(_ list: UnsafeBufferPointer<UInt8>) {
    for item in list.split(separator: UInt8(ascii: ",")) {
      let parts = item.split(separator: UInt8(ascii: ";"), maxSplits: 1)
      guard let first = parts.first, parts.count == 1 || !Self.isZero(parts[1]) else { continue }
      let name = String(decoding: UnsafeBufferPointer(rebasing: first).trimmed, as: UTF8.self)
      if let compression = MessageCompression(rawValue: name) { insert(Self(compression)) }
    }
  }

  /// Adds what a header of HTTP lists.
  package mutating func add(_ list: String) { Array(list.utf8).withUnsafeBufferPointer { add($0) } }

  /// Whether the parameter is `q=0`, with or without decimals.
  private static func isZero(_ parameter: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let text = String(decoding: parameter, as: UTF8.self).filter { $0 != " " }
    return text.hasPrefix("q=0") && text.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
  }
}
