@testable import SwitchboardHTTP2

/// The HTTP/1.1 parser, without connections.
enum HTTP1Target {
  private enum Told: Equatable {
    case head(method: [UInt8], path: [UInt8], fields: [[UInt8]], hasBody: Bool)
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
      let goesOn = try rest.prefix(size).withUnsafeBytes { piece in
        var piece = piece
        return try read(&piece, with: &parser, into: &told)
      }
      guard goesOn else { break }
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
        try check(head)
        let fields = head.fields.flatMap { [$0.name, $0.value] }
        told.append(.head(method: head.method, path: head.path, fields: fields, hasBody: head.hasBody))
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
  private static func check(_ head: HTTP1RequestHead) throws {
    let texts = [head.method, head.path] + head.fields.flatMap { [$0.name, $0.value] }
    let breaks = texts.contains { $0.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
    try BrokenPromise.unless(!breaks, "a head has a line break in a field")
    let isCased = head.fields.contains { $0.name.contains { (65...90).contains($0) } || $0.name.isEmpty }
    try BrokenPromise.unless(!isCased, "a field has an invalid name for HTTP/2")
  }
}
