@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The HTTP/1.1 parser, without connections.
enum HTTP1Target {
  private struct Field: Equatable {
    let name: [UInt8]
    let value: [UInt8]
  }

  private enum Told: Equatable {
    case head([Field], hasBody: Bool)
    case body([UInt8])
    case end
    case refused(String)
  }

  /// The first byte is the size of the pieces in which the rest is fed: the result must be that for the whole.
  static func run(_ input: [UInt8]) throws {
    guard let size = input.first else { return }
    let bytes = input.dropFirst()
    let whole = try told(of: bytes, pieces: max(1, bytes.count))
    let pieces = try told(of: bytes, pieces: max(1, Int(size)))
    try BrokenPromise.unless(whole == pieces, "pieces of \(size) give different requests than the whole")
  }

  private static func told(of bytes: ArraySlice<UInt8>, pieces size: Int) throws -> [Told] {
    var parser = HTTP1Parser(headLimit: 1024)
    var told: [Told] = []
    var rest = bytes
    while !rest.isEmpty {
      let continues = try rest.prefix(size).withUnsafeBytes { piece in
        var piece = piece
        return try read(&piece, with: &parser, into: &told)
      }
      guard continues else { break }
      rest = rest.dropFirst(size)
    }
    return told
  }

  /// Returns `false` once nothing more can be read.
  private static func read(
    _ bytes: inout UnsafeRawBufferPointer,
    with parser: inout HTTP1Parser,
    into told: inout [Told]
  ) throws -> Bool {
    while true {
      switch parser.next(&bytes) {
      case .incomplete:
        try BrokenPromise.unless(bytes.isEmpty, "\(bytes.count) bytes are left unread")
        return true
      case .head(let head):
        var fields: [Field] = []
        head.forEachField { fields.append(Field(name: Array($0), value: Array($1))) }
        try check(fields)
        told.append(.head(fields, hasBody: head.hasBody))
      case .body(let piece):
        guard case .body(let before) = told.last else {
          told.append(.body(Array(piece)))
          continue
        }
        told[told.count - 1] = .body(before + piece)
      case .end:
        told.append(.end)
      case .refused(let refusal):
        told.append(.refused("\(refusal.status)"))
        return false
      }
    }
  }

  /// Parsed fields are passed on as HTTP/2 fields, which must not contain line breaks.
  private static func check(_ fields: [Field]) throws {
    let breaks = fields.contains { ($0.name + $0.value).contains { $0 == 0 || $0 == 10 || $0 == 13 } }
    try BrokenPromise.unless(!breaks, "a head has a line break in a field")
    let isCased = fields.contains { $0.name.contains { (65...90).contains($0) } || $0.name.isEmpty }
    try BrokenPromise.unless(!isCased, "a field has an invalid name for HTTP/2")
    let pseudo = fields.filter { $0.name.first == UInt8(ascii: ":") }.map {
      String(decoding: $0.name, as: UTF8.self)
    }
    let isOrdered =
      fields.prefix(2).map(\.name) == [":method", ":path"].map { Array($0.utf8) }
      && [[], [":authority"]].contains(pseudo.dropFirst(2))
    try BrokenPromise.unless(
      isOrdered,
      "a head does not begin with the method and the path, or has further pseudo-headers than the host"
    )
  }
}
