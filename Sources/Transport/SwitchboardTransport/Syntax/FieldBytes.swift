// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Names and values of fields, as a session lends them.
extension UnsafeBufferPointer<UInt8> {
  package func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
    return memcmp(baseAddress, text.utf8Start, count) == 0
  }

  func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count, let baseAddress, let start = other.baseAddress else {
      return isEmpty && other.isEmpty
    }
    return memcmp(baseAddress, start, count) == 0
  }

  /// Whether the content type is this one, with or without a subtype or parameters.
  func isMediaType(_ wanted: StaticString) -> Bool {
    guard count >= wanted.utf8CodeUnitCount,
      UnsafeBufferPointer(rebasing: self[..<wanted.utf8CodeUnitCount]).equals(wanted)
    else { return false }
    guard count > wanted.utf8CodeUnitCount else { return true }
    let next = self[wanted.utf8CodeUnitCount]
    return next == UInt8(ascii: "+") || next == UInt8(ascii: ";")
  }

  /// The part of a content type after the `+`, without parameters.
  var contentSubtype: ContentSubtype {
    // Most requests name no subtype, and nothing follows the type.
    guard !equals("application/grpc") else { return .unnamed }
    let mediaType = prefix { $0 != UInt8(ascii: ";") }
    guard let plus = mediaType.firstIndex(of: UInt8(ascii: "+")) else { return .unnamed }
    let name = UnsafeBufferPointer(rebasing: mediaType[(plus + 1)...])
    return ContentSubtype(String(decoding: name.trimmed, as: UTF8.self))
  }

  var trimmed: UnsafeBufferPointer<UInt8> {
    var part = self[...]
    while part.first == UInt8(ascii: " ") { part = part.dropFirst() }
    while part.last == UInt8(ascii: " ") { part = part.dropLast() }
    return UnsafeBufferPointer(rebasing: part)
  }
}
