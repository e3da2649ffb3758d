// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall
import SwitchboardText

/// The syntax of HTTP field names and values.
package enum FieldSyntax {
  static func isName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    !name.isEmpty && nghttp2_check_header_name(name.baseAddress, name.count) != 0
  }

  /// Whether the bytes are a token, such as a method or a field name in HTTP/1.1. A token is not empty.
  static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_method(bytes.baseAddress, bytes.count) != 0
  }

  static func isValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_header_value(value.baseAddress, value.count) != 0
  }

  /// Whether the bytes are a host, with or without a port, or nothing. User information is not part of a host.
  static func isHost(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_authority(bytes.baseAddress, bytes.count) != 0 && !bytes.contains(UInt8(ascii: "@"))
  }

  package static func isHost(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { isHost($0) }
  }

  static func isToken(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { isToken($0) }
  }

  /// Like `isValue`, but without leading and trailing spaces, for which other peers reset the stream.
  static func isStrictValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_header_value_rfc9113(value.baseAddress, value.count) != 0
  }

  /// Why the field cannot be sent, in words that follow its name.
  static func fault(of name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> String? {
    guard isName(name) else { return "is not a name that HTTP allows" }
    if isStrictValue(value) { return nil }
    // Of the value without the space around it, only that can be at fault.
    let inner = value.drop(while: isBlank)
    let end = inner.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? inner.startIndex
    let text = UnsafeBufferPointer(rebasing: inner[..<end])
    return text.count < value.count && isStrictValue(text)
      ? "has a value that HTTP does not allow (it begins or ends with a space)"
      : "has a value that HTTP does not allow (it has a line break, or another control character)"
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// Why a field whose name and value must agree on whether it is binary cannot be sent.
  static func binaryFault(of name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> String?
  {
    guard isBinaryName(name) else {
      return value.first == HPACKHeaders.binaryMark
        ? "has a binary value, which needs a name that ends in -bin" : nil
    }
    // The library's own fields are left out, whatever was received in them.
    guard ReservedHeaders.allow(name), let fault = Base64.faultOfList(value) else { return nil }
    return "\(notInBase64)\(fault): use add(name:binary:), or another name"
  }

  private static func isBinaryName(_ name: some RandomAccessCollection<UInt8>) -> Bool {
    name.count > 4 && name.suffix(4).elementsEqual("-bin".utf8)
  }

  private static let notInBase64 = "is binary because of its name, but its value is not in base64"

  /// The same of a field whose name may have capital letters, which will be made small.
  package static func fault(of name: String, _ value: String) -> String? {
    var (name, value) = (name.lowercased(), value)
    return name.withUTF8 { name in value.withUTF8 { fault(of: name, $0) } }
  }

  /// Why a field that a person has written, whose name may have capital letters, cannot be sent.
  package static func faultInText(of name: String, _ value: String) -> String? {
    if let fault = fault(of: name, value) { return fault }
    guard isBinaryName(Array(name.lowercased().utf8)), let fault = Base64.faultOfList(value.utf8) else {
      return nil
    }
    return "\(notInBase64)\(fault): write it in base64, or choose another name"
  }

  /// Whether the library writes the field itself and leaves out that of a user.
  package static func isReserved(_ name: String) -> Bool {
    var name = name.lowercased()
    return name.withUTF8 { !ReservedHeaders.allow($0) }
  }
}

extension Base64 {
  /// Why the text is not what `-bin` metadata may have as a value: base64, or several such texts with commas between them. In
  /// words that follow others, if there is more to say; `nil` if it may be.
  fileprivate static func faultOfList(_ text: some Collection<UInt8>) -> String? {
    var digits = 0
    var isPadded = false
    var fault: String?
    // Spaces are beside commas only: elsewhere, they divide words.
    var isAfterSpace = false
    for byte in text {
      if isAfterSpace, digits > 0, byte != UInt8(ascii: ","), byte != UInt8(ascii: " ") { return "" }
      isAfterSpace = byte == UInt8(ascii: " ")
      switch byte {
      case UInt8(ascii: ","):
        if digits % 4 == 1 { return "" }
        (digits, isPadded) = (0, false)
      case UInt8(ascii: "="): isPadded = true
      case UInt8(ascii: " "): break
      case UInt8(ascii: "-"), UInt8(ascii: "_"):
        fault = " (the alphabet with - and _ is that of URLs, not of metadata)"
        digits += 1
      default:
        guard value(byte) != nil else { return "" }
        if isPadded { fault = " (it goes on after its padding, =)" }
        digits += 1
      }
    }
    if digits % 4 == 1 { fault = fault ?? " (a digit is missing, or there is one too many)" }
    // Words with spaces or commas are a text, and no base64 with a mistake.
    let isText = text.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
    return isText && fault != nil ? "" : fault
  }
}

/// The names of fields that the library itself writes. In a user's metadata they are left out, so that metadata that
/// was received with one call can be sent with another.
enum ReservedHeaders {
  private static let names: Set<[UInt8]> = Set(
    [
      "te", "content-type", "content-length", "connection", "keep-alive", "proxy-connection", "upgrade",
      "transfer-encoding", "host", "user-agent",
    ].map { Array($0.utf8) }
  )

  /// The only field of gRPC that handlers send. It says when to retry, and counts in trailers only.
  private static let pushback = Array("grpc-retry-pushback-ms".utf8)

  /// The names that belong to the connection, whatever is sent over it.
  private static let hopByHop: Set<[UInt8]> = Set(
    [
      "te", "content-length", "connection", "keep-alive", "proxy-connection", "upgrade", "transfer-encoding",
      "host",
    ].map { Array($0.utf8) }
  )

  static func allowPlain(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = name.first, first != UInt8(ascii: ":") else { return false }
    return !hopByHop.contains(Array(name))
  }

  static func allow(_ name: UnsafeBufferPointer<UInt8>, inTrailers: Bool = true) -> Bool {
    guard let first = name.first, first != UInt8(ascii: ":") else { return false }
    if name.starts(with: "grpc-".utf8) { return inTrailers && name.elementsEqual(pushback) }
    return !names.contains(Array(name))
  }
}

extension HPACKHeaders {
  /// Passes the fields that a user may send to `body`. The names of HTTP/2 and of gRPC itself are left out. Returns whether
  /// none was.
  @discardableResult
  func forEachUserField(
    inTrailers: Bool,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void
  ) -> Bool {
    var areAll = true
    forEachField { name, value in
      if ReservedHeaders.allow(name, inTrailers: inTrailers), FieldSyntax.isName(name),
        FieldSyntax.isValue(value)
      {
        body(name, value)
      } else {
        areAll = false
      }
    }
    return areAll
  }

  /// The names that are left out although a program has chosen them, which hardly meant that: in metadata that arrived with
  /// another call, they are no mistake.
  func mistakenNames(inTrailers: Bool) -> [String] {
    guard !isReceived else { return [] }
    return (0..<fieldCount).compactMap { index in
      withField(at: index) { name, _ in
        ReservedHeaders.allow(name, inTrailers: inTrailers) ? nil : String(decoding: name, as: UTF8.self)
      }
    }
  }

  /// Returns a failure for the first field that may not be sent as user metadata. HTTP would make the peer reject the
  /// whole call, and the field must not be dropped silently. Fields with the library's own names are valid, but left
  /// out.
  var failureToSend: GRPCStatus? {
    for index in 0..<fieldCount {
      let failure: GRPCStatus? = withField(at: index) { name, value in
        if name.first == UInt8(ascii: ":") { return nil }
        if let fault = FieldSyntax.binaryFault(of: name, value) { return .metadata(name, fault) }
        return FieldSyntax.fault(of: name, value).map { .metadata(name, $0) }
      }
      if let failure { return failure }
    }
    return nil
  }
}

extension GRPCStatus {
  fileprivate static func metadata(_ name: UnsafeBufferPointer<UInt8>, _ what: String) -> GRPCStatus {
    GRPCStatus(
      code: .internalError,
      message: "the metadata \(name.excerpt().debugDescription) \(what)",
      origin: .user
    )
  }
}
