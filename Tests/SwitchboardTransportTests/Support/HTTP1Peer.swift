import Foundation
import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport

/// An HTTP/1.1 client scripted byte by byte.
final class HTTP1Peer {
  struct Response: Equatable {
    var status: String
    var fields: [String: String]
    var body: [UInt8]
  }

  let raw: RawPeer

  init(_ address: SocketAddress) throws { raw = try RawPeer(address) }

  func send(_ text: String) { raw.send(Array(text.utf8)) }

  /// Sends a call of `TestService` with a content-length.
  func call(_ method: String, _ body: [UInt8], _ type: String = "", adding lines: String...) {
    send(Self.head(method, type, lines + ["content-length: \(body.count)"]))
    raw.send(body)
  }

  static func head(_ method: String, _ type: String = "", _ lines: [String]) -> String {
    let first = [
      "POST /test.Test/\(method) HTTP/1.1", "host: test", "content-type: application/grpc-web\(type)",
    ]
    return (first + lines + ["", ""]).joined(separator: "\r\n")
  }

  /// `nil` at the end of the connection, or if the bytes are not a response.
  func response() -> Response? {
    guard let first = line() else { return nil }
    var response = Response(status: String(first.dropFirst(9).prefix(3)), fields: [:], body: [])
    while let line = line(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      response.fields[String(parts[0])] = String(parts[1].dropFirst())
    }
    if response.fields["transfer-encoding"] == "chunked" {
      while let chunk = chunk(), !chunk.isEmpty { response.body += chunk }
    } else {
      response.body = raw.read(Int(response.fields["content-length"] ?? "0") ?? 0)
    }
    return response
  }

  /// The body of the next response.
  func answer() -> WebMessages? { response().map { WebMessages($0.body) } }

  /// The next chunk of a body; empty at the end.
  func chunk() -> [UInt8]? {
    guard let line = line(), let size = Int(line, radix: 16) else { return nil }
    defer { _ = raw.read(2) }
    return raw.read(size)
  }

  func line() -> String? {
    var bytes: [UInt8] = []
    while let byte = raw.read(1).first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes.dropLast(), as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }
}

/// The messages in the body of a response, and the trailers in the last of them.
struct WebMessages: Equatable {
  var messages: [[UInt8]] = []
  var trailers: [String: String] = [:]

  init(_ body: [UInt8]) {
    var rest = body[...]
    while rest.count >= 5 {
      let flag = rest.removeFirst()
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let message = Array(rest.dropFirst(4).prefix(length))
      rest = rest.dropFirst(4 + length)
      guard flag == 0x80 else {
        messages.append(message)
        continue
      }
      for line in String(decoding: message, as: UTF8.self).split(separator: "\r\n") {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { trailers[String(parts[0])] = String(parts[1]) }
      }
    }
  }

  /// What a body of base64 stands for. It may be padded in several places, each of which ends a piece.
  static func bytes(ofText body: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = body[...]
    while !rest.isEmpty {
      let digits = rest.prefix { $0 != UInt8(ascii: "=") }
      let padding = rest.dropFirst(digits.count).prefix { $0 == UInt8(ascii: "=") }
      guard let piece = Data(base64Encoded: Data(digits + padding)) else { return nil }
      bytes += piece
      rest = rest.dropFirst(digits.count + padding.count)
    }
    return bytes
  }

  /// An encoded message with its prefix.
  static func frame(_ message: [UInt8]) -> [UInt8] {
    [0] + FramePeer.number(UInt32(message.count)) + message
  }
}
