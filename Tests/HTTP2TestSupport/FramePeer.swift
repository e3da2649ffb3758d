import CNghttp2
import SwitchboardNetwork
import SwitchboardTransport

/// A peer scripted frame by frame: it sends exactly what a test specifies.
package final class FramePeer {
  package struct Frame {
    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32
    package var payload: [UInt8]

    package var endsStream: Bool { flags & 1 == 1 }
  }

  package enum Kind {
    package static let data: UInt8 = 0
    package static let headers: UInt8 = 1
    package static let priority: UInt8 = 2
    package static let resetStream: UInt8 = 3
    package static let settings: UInt8 = 4
    package static let pushPromise: UInt8 = 5
    package static let ping: UInt8 = 6
    package static let goAway: UInt8 = 7
    package static let windowUpdate: UInt8 = 8
    package static let continuation: UInt8 = 9
  }

  package let raw: RawPeer
  /// What carries the frames, if they are encrypted, and what was read of them.
  private var secure: SecurePeer?
  private var heard: [UInt8] = []
  private var inflater: OpaquePointer?

  /// Connects and, by default, sends the client preface.
  package init(_ address: SocketAddress, greets: Bool = true) throws {
    raw = try RawPeer(address)
    nghttp2_hd_inflate_new(&inflater)
    if greets { greet() }
  }

  /// The same over TLS, where ALPN says that HTTP/2 follows.
  package convenience init(secure address: SocketAddress, greets: Bool = true) throws {
    let secure = try SecurePeer(address)
    self.init(saying: secure.raw)
    self.secure = secure
    if greets { greet() }
  }

  package convenience init(port: Int) throws {
    self.init(saying: try RawPeer(port: port))
    greet()
  }

  private init(saying raw: RawPeer) {
    self.raw = raw
    nghttp2_hd_inflate_new(&inflater)
  }

  /// The server's side of a connection, after it has read and answered the client preface.
  package init(serving raw: RawPeer, settings: [UInt8] = []) {
    self.raw = raw
    nghttp2_hd_inflate_new(&inflater)
    _ = raw.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
    send(Kind.settings, 0, 0, settings)
  }

  deinit { nghttp2_hd_inflate_del(inflater) }

  /// Sends these bytes, encrypted if the frames are.
  package func write(_ bytes: [UInt8]) {
    if let secure { secure.say(bytes) } else { raw.send(bytes) }
  }

  private func read(_ count: Int) -> [UInt8] {
    guard let secure else { return raw.read(count) }
    while heard.count < count {
      let more = secure.listen { !$0.isEmpty }
      guard !more.isEmpty else { break }
      heard += more
    }
    defer { heard.removeFirst(min(count, heard.count)) }
    return Array(heard.prefix(count))
  }

  package func greet() {
    write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
    send(Kind.settings, 0, 0, [])
  }

  package func send(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) {
    write(Self.frame(type, flags, stream, payload))
  }

  package static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let length = payload.count
    let head = [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
    return head + number(stream) + payload
  }

  package static func number(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  /// The headers of a call of `TestService`.
  package static func call(_ method: String, adding added: [(String, String)] = []) -> [(String, String)] {
    request("/test.Test/\(method)", added)
  }

  /// The headers of a gRPC request.
  package static func request(_ path: String, _ more: [(String, String)] = []) -> [(String, String)] {
    [
      (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test"), ("te", "trailers"),
      ("content-type", "application/grpc"),
    ] + more
  }

  /// Headers as literals without indexing.
  package func headers(_ stream: UInt32, _ fields: [(String, String)], ends: Bool = false) {
    send(Kind.headers, ends ? 5 : 4, stream, Self.block(fields))
  }

  /// A header block of literals without indexing.
  package static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in [0] + string(name) + string(value) }
  }

  /// A string in HPACK, without Huffman coding.
  package static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

  package static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count, prefix: 7) + bytes }

  /// An integer in HPACK with a prefix of this many bits; `flags` are the bits before it.
  package static func integer(_ value: Int, prefix: Int, flags: UInt8 = 0) -> [UInt8] {
    let limit = 1 << prefix - 1
    guard value >= limit else { return [flags | UInt8(value)] }
    var bytes = [flags | UInt8(limit)]
    var rest = value - limit
    while rest >= 128 {
      bytes.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  package func data(_ stream: UInt32, _ payload: [UInt8], ends: Bool = false) {
    send(Kind.data, ends ? 1 : 0, stream, payload)
  }

  /// The next frame; `nil` when the connection is closed.
  package func next() -> Frame? {
    let head = read(9)
    guard head.count == 9 else { return nil }
    let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
    return Frame(type: head[3], flags: head[4], stream: stream, payload: read(length))
  }

  /// The next frame of one of these types; skips others.
  package func next(_ types: UInt8...) -> Frame? {
    while let frame = next() {
      if types.contains(frame.type) { return frame }
    }
    return nil
  }

  /// Returns once the other side has read all that was sent; `false` if it is gone.
  package func settle() -> Bool {
    let mark: [UInt8] = Array("settled?".utf8)
    send(Kind.ping, 0, 0, mark)
    while let ping = next(Kind.ping) {
      if ping.flags == 1, ping.payload == mark { return true }
    }
    return false
  }

  /// The next messages in DATA frames of any stream, each with its flag.
  package func nextMessages(_ count: Int) -> [(isCompressed: Bool, bytes: [UInt8])] {
    var messages: [(isCompressed: Bool, bytes: [UInt8])] = []
    var body: [UInt8] = []
    while messages.count < count {
      if body.count >= 5 {
        let length = body[1..<5].reduce(0) { $0 << 8 | Int($1) }
        if body.count >= 5 + length {
          messages.append((body[0] == 1, Array(body[5..<5 + length])))
          body.removeFirst(5 + length)
          continue
        }
      }
      guard let frame = next(Kind.data) else { break }
      body += frame.payload
    }
    return messages
  }

  /// The headers of the next block, as `name: value`.
  package func nextHeaders() -> (fields: [String: String], ends: Bool)? {
    while let frame = next() {
      if frame.type == Kind.headers { return (inflate(frame.payload), frame.endsStream) }
    }
    return nil
  }

  package func inflate(_ block: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    var rest = block[...]
    while true {
      var field = nghttp2_nv()
      var flags: Int32 = 0
      let used = rest.withUnsafeBufferPointer {
        nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
      }
      guard used >= 0 else { return fields }
      rest = rest.dropFirst(used)
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        let name = String(
          decoding: UnsafeBufferPointer(start: field.name, count: field.namelen),
          as: UTF8.self
        )
        fields[name] = String(
          decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen),
          as: UTF8.self
        )
      }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
      }
    }
  }
}
