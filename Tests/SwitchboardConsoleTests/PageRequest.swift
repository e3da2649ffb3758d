import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import TestSupport

/// A request for a page, as bytes on a socket: nothing adds or changes a header.
struct PageRequest {
  private let text: String

  /// A POST if it has a body.
  init(_ path: String, _ fields: [String: String], host: String = "localhost", body: String? = nil) {
    var lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
    if let body { lines += "content-length: \(body.utf8.count)\r\n" }
    text = """
      \(body == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nhost: \(host)\r\n\(lines)connection: close\r\n\r\n\(body ?? "")
      """
  }

  func answer(at address: SocketAddress) throws -> String {
    let peer = try RawPeer(address)
    peer.send(Array(text.utf8))
    return String(decoding: peer.read(1 << 20), as: UTF8.self)
  }
}
