/// HTTP/2 frames built from bytes: an attacker sends frames that no client would.
enum AttackFrame {
  enum Kind: UInt8 {
    case data, headers, priority, reset, settings, promise, ping, goAway, windowUpdate, continuation
    case unknown = 200
  }

  static let endStream: UInt8 = 1
  static let endHeaders: UInt8 = 4

  static func make(_ kind: Kind, _ flags: UInt8 = 0, _ stream: Int = 0, _ payload: [UInt8] = []) -> [UInt8] {
    [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255)]
      + [kind.rawValue, flags] + number(stream) + payload
  }

  static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  /// The client preface, settings with the largest windows, and an acknowledgment of the server's settings, so that
  /// the server's windows apply.
  static let greeting =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    + make(.settings, 0, 0, [0, 4] + number(0x7fff_ffff))
    + make(.windowUpdate, 0, 0, number(0x7fff_0000)) + make(.settings, 1)

  /// Sets the window of every stream.
  static func window(_ size: Int) -> [UInt8] { make(.settings, 0, 0, [0, 4] + number(size)) }

  /// The payload of a frame that sets the same as often as it can.
  static let manySettings = (0..<2730).flatMap { _ -> [UInt8] in [0, 4] + number(65_535) }

  // MARK: Headers

  /// Eight kilobytes of fields, as literals that are not indexed.
  static let manyFields = (0..<200).flatMap { number -> [UInt8] in
    [0] + string("x-\(number)") + string(String(repeating: "v", count: 33))
  }

  /// The header block of a call, with literals that are not indexed.
  static func block(of method: String, _ more: [(String, String)] = []) -> [UInt8] {
    let fields =
      [
        (":method", "POST"), (":scheme", "http"), (":path", "/bench.Bench/\(method)"),
        (":authority", "bench"),
        ("te", "trailers"), ("content-type", "application/grpc"),
      ] + more
    return fields.flatMap { [0] + string($0) + string($1) }
  }

  static func string(_ text: String) -> [UInt8] {
    let length = text.utf8.count
    guard length >= 127 else { return [UInt8(length)] + text.utf8 }
    // Two more length bytes cover all sizes used here.
    return [127, UInt8((length - 127) & 127 | 128), UInt8((length - 127) >> 7)] + text.utf8
  }

  static func headers(_ stream: Int, _ block: [UInt8], flags: UInt8 = endHeaders) -> [UInt8] {
    make(.headers, flags, stream, block)
  }

  // MARK: Messages

  /// A gRPC message.
  static func message(_ bytes: [UInt8], isCompressed: Bool = false) -> [UInt8] {
    [isCompressed ? 1 : 0] + number(bytes.count) + bytes
  }

  /// DATA frames of the size that every peer accepts.
  static func data(_ stream: Int, _ bytes: [UInt8], ends: Bool = true) -> [UInt8] {
    let starts = Array(stride(from: 0, to: bytes.count, by: 16384))
    return starts.flatMap { start in
      let end = min(start + 16384, bytes.count)
      return make(.data, ends && end == bytes.count ? endStream : 0, stream, Array(bytes[start..<end]))
    }
  }

  /// A complete unary call.
  static func call(_ stream: Int) -> [UInt8] {
    headers(stream, block(of: "Unary")) + data(stream, message(greetingMessage))
  }

  /// A `Bench_Text` with the text that all benchmarks send.
  static let greetingMessage: [UInt8] = [0x0a, 12] + Array("Hello, gRPC!".utf8)
}
