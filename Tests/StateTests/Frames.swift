import CNghttp2

/// An HTTP/2 frame.
struct Frame {
  enum Kind: UInt8 {
    case data, headers, priority, reset, settings, promise, ping, goAway, windowUpdate, continuation
  }

  var kind: Kind
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]

  init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8]) {
    self.kind = kind
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  /// Each field as a literal without indexing.
  static func headers(_ stream: UInt32, _ fields: [(String, String)], ends: Bool) -> Frame {
    let block: [UInt8] = fields.flatMap { name, value -> [UInt8] in [0] + string(name) + string(value) }
    return Frame(.headers, flags: ends ? 5 : 4, stream: stream, block)
  }

  /// The same, with one more field, which is in a table that both sides keep.
  static func headers(
    _ stream: UInt32,
    _ fields: [(String, String)],
    _ last: (String, String),
    ends: Bool,
    in table: inout FieldTable
  ) -> Frame {
    var frame = headers(stream, fields, ends: ends)
    frame.payload += table.encode(last.0, last.1)
    return frame
  }

  fileprivate static func string(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    precondition(bytes.count < 127, "longer strings need a longer length")
    return [UInt8(bytes.count)] + bytes
  }

  static func number(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  var endsStream: Bool { (kind == .data || kind == .headers) && flags & 1 != 0 }

  /// The error code in RST_STREAM and GOAWAY.
  var errorCode: UInt32 {
    let bytes = kind == .goAway ? payload[4..<8] : payload[..<4]
    return bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  var bytes: [UInt8] {
    let length = payload.count
    return [
      UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
      UInt8(truncatingIfNeeded: length), kind.rawValue, flags,
    ] + Self.number(stream) + payload
  }
}

/// Splits the output of one side into frames, and decodes header blocks.
final class FrameReader {
  private var bytes: [UInt8]
  private var skipped: Int
  private let inflater: OpaquePointer?

  /// The client preface is not a frame.
  init(skipping: Int) {
    bytes = []
    skipped = skipping
    var inflater: OpaquePointer?
    nghttp2_hd_inflate_new(&inflater)
    self.inflater = inflater
  }

  deinit { nghttp2_hd_inflate_del(inflater) }

  func append(_ more: UnsafeRawBufferPointer) { bytes += more }

  /// The frames that have arrived completely.
  func takeFrames() throws(Violation) -> [Frame] {
    var frames: [Frame] = []
    var start = min(skipped, bytes.count)
    skipped -= start
    while bytes.count - start >= 9 {
      let head = bytes[start..<start + 9]
      let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count - start >= 9 + length else { break }
      guard let kind = Frame.Kind(rawValue: head[start + 3]) else {
        throw Violation("a frame of the type \(head[start + 3]) is sent")
      }
      let stream = head.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let payload = Array(bytes[start + 9..<start + 9 + length])
      frames.append(Frame(kind, flags: head[start + 4], stream: stream, payload))
      start += 9 + length
    }
    bytes.removeFirst(start)
    return frames
  }

  /// Must be called with each header block in order.
  func inflate(_ block: [UInt8]) throws(Violation) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var rest = block[...]
    while true {
      var field = nghttp2_nv()
      var flags: Int32 = 0
      let used = rest.withUnsafeBufferPointer {
        nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
      }
      guard used >= 0 else { throw Violation("headers are sent that cannot be read") }
      rest = rest.dropFirst(used)
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        fields.append((Self.text(field.name, field.namelen), Self.text(field.value, field.valuelen)))
      }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
      }
    }
  }

  private static func text(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

/// A deviation from the model.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws(Violation) {
    if !holds { throw Violation(description()) }
  }
}

/// HPACK's table, to which a client adds a field whenever it is not the newest one: so equal bytes say one thing before,
/// and another one after.
struct FieldTable {
  private var newest: (name: String, value: String)?

  /// Refers to the field if it is the newest one, and adds it otherwise.
  mutating func encode(_ name: String, _ value: String) -> [UInt8] {
    if let newest, newest == (name, value) { return [Self.newestIndex] }
    newest = (name, value)
    return [0x40] + Frame.string(name) + Frame.string(value)
  }

  private static let newestIndex: UInt8 = 0x80 | 62
}
