import SwitchboardCall
import SwitchboardText

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What the Connect protocol reads besides frames, and compressed messages.
enum ConnectTargets {
  /// The query of a GET. What was read reads the same when it is written again.
  static func query(_ input: [UInt8]) throws {
    guard let query = ConnectQuery(input), let message = query.message else { return }
    let text = Base64.encode(message).map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 }
      .map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
    let again = ConnectQuery(Array("base64=1&message=".utf8) + text)
    try BrokenPromise.unless(again?.message == message, "\(message) becomes \(again?.message ?? [])")
    try BrokenPromise.unless(message.count <= input.count, "a message is larger than the query that has it")
  }

  /// An error in JSON; and a status with any message that no terminal obeys, which comes back from its JSON.
  static func error(_ input: [UInt8]) throws {
    let unknown = GRPCStatus(code: .unknown)
    let read = ConnectErrorReader.status(input, else: unknown)
    let writer = ConnectError(describe: nil)
    let again = ConnectErrorReader.status(writer.json(of: read), else: unknown)
    try BrokenPromise.unless(again.code == read.code || read.isOk, "\(read) becomes \(again)")
    let message = PeerText.harmless(input)
    let status = GRPCStatus(code: .notFound, message: message.isEmpty ? nil : message)
    let back = ConnectErrorReader.status(writer.json(of: status), else: unknown)
    try BrokenPromise.unless(back == status, "\(status) becomes \(back)")
    _ = writer.endOfStream(status, HPACKHeaders([("a", message), ("b-bin", message)]))
  }

  /// The first byte chooses the format. No more comes out than is allowed.
  static func decompression(_ input: [UInt8]) throws {
    guard let first = input.first else { return }
    let formats = MessageCompression.allCases.filter { $0 != .none }
    let format = formats[Int(first) % formats.count]
    let limit = 10_000
    let bytes = Array(input.dropFirst())
    let plain = bytes.withUnsafeBytes { try? Compressor.inflate($0, format, upTo: limit) }
    try BrokenPromise.unless((plain?.count ?? 0) <= limit, "more than \(limit) bytes came out")
    let packed = Compressor.compress(MessageBuffer(bytes), format)
    guard packed.isCompressed else { return }
    let again = try Compressor.decompress(packed, format, limit: .request(bytes.count))
    let isSame = again.withBytes { $0.withUnsafeBytes(Array.init) } == bytes
    try BrokenPromise.unless(isSame, "bytes do not come back from \(format)")
  }
}

/// The parser of HTTP/1.1 responses, without connections.
enum HTTP1ResponseTarget {
  private enum Told: Equatable {
    case head(status: [UInt8], fields: [[UInt8]], hasBody: Bool)
    case body([UInt8])
    case end, broken
  }

  /// The first byte is the size of the pieces in which the rest is fed: the result must be that for the whole.
  static func run(_ input: [UInt8]) throws {
    guard let size = input.first else { return }
    let bytes = input.dropFirst()
    let whole = try told(of: bytes, pieces: max(1, bytes.count))
    let pieces = try told(of: bytes, pieces: max(1, Int(size)))
    try BrokenPromise.unless(whole == pieces, "pieces of \(size) give different responses than the whole")
  }

  private static func told(of bytes: ArraySlice<UInt8>, pieces size: Int) throws -> [Told] {
    var parser = HTTP1ResponseParser(headLimit: 1024)
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
    with parser: inout HTTP1ResponseParser,
    into told: inout [Told]
  ) throws -> Bool {
    while true {
      switch parser.next(&bytes) {
      case .incomplete:
        try BrokenPromise.unless(bytes.isEmpty, "\(bytes.count) bytes are left unread")
        return true
      case .head(let head):
        let fields = head.fields.flatMap { [$0.name, $0.value] }
        let breaks = fields.contains { $0.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
        try BrokenPromise.unless(!breaks, "a head has a line break in a field")
        told.append(.head(status: head.status, fields: fields, hasBody: head.hasBody))
      case .body(let piece):
        guard case .body(let before) = told.last else {
          told.append(.body(Array(piece)))
          continue
        }
        told[told.count - 1] = .body(before + piece)
      case .end:
        told.append(.end)
      case .broken:
        told.append(.broken)
        return false
      }
    }
  }
}
