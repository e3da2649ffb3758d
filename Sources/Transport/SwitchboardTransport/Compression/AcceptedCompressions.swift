// unsafe: zlib, zstd, brotli: one owner a stream, buffers lent for one call

import SwitchboardCall

/// The compressions that a peer accepts.
package struct AcceptedCompressions: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The list of compressions that this side accepts, in gRPC's form.
  static let offered: StaticString = "identity,deflate,gzip,zstd,br"

  /// Whether messages may be compressed in this way. Uncompressed messages are always accepted.
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

  /// Adds the names in a header, separated by commas. Names with a quality of zero are ignored.
  package mutating func add(_ list: UnsafeBufferPointer<UInt8>) {
    // Parsed in place without allocating, because almost every call has such a list.
    var rest = list[...]
    while !rest.isEmpty {
      let item = rest.prefix { $0 != UInt8(ascii: ",") }
      rest = rest[item.endIndex...].dropFirst()
      let name = item.prefix { $0 != UInt8(ascii: ";") }
      let parameter = item[name.endIndex...].dropFirst()
      if !parameter.isEmpty, Self.isZero(parameter) { continue }
      insert(named: UnsafeBufferPointer(rebasing: name).trimmed)
    }
  }

  private mutating func insert(named name: UnsafeBufferPointer<UInt8>) {
    if let compression = MessageCompression(named: name) { insert(Self(compression)) }
  }

  /// Whether the parameter is `q=0`, with or without decimals.
  private static func isZero(_ parameter: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let text = parameter.lazy.filter { $0 != UInt8(ascii: " ") }
    return text.starts(with: "q=0".utf8)
      && text.dropFirst(3).allSatisfy { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "0") }
  }
}

extension MessageCompression {
  /// The compression with exactly this name, as headers have it.
  package init?(named name: UnsafeBufferPointer<UInt8>) {
    if name.equals("gzip") {
      self = .gzip
    } else if name.equals("identity") {
      self = .none
    } else if name.equals("deflate") {
      self = .deflate
    } else if name.equals("zstd") {
      self = .zstd
    } else if name.equals("br") {
      self = .brotli
    } else {
      return nil
    }
  }
}
