import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The parser of HTTP/1.1 responses: what it takes, and what it must not.
@Suite struct HTTP1ResponseParserTests {
  /// Reads a whole text: statuses, bodies in brackets, `.` for the end of a body, `!` if it is broken.
  private func read(_ text: String) -> String {
    var parser = HTTP1ResponseParser(headLimit: 200)
    return Array(text.utf8).withUnsafeBytes { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      var told = ""
      while true {
        switch parser.next(&rest) {
        case .incomplete: return told
        case .head(let head): told += String(decoding: head.status, as: UTF8.self)
        case .body(let piece): told += "[\(String(decoding: piece, as: UTF8.self))]"
        case .end: told += "."
        case .broken: return told + "!"
        }
      }
    }
  }

  @Test(arguments: [
    (
      "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcHTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n",
      "200[abc].404"
    ),
    (
      "HTTP/1.1 100 \r\n\r\nHTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\na: b\r\n\r\n",
      "100200[ab][c]."
    ),
    ("HTTP/1.1 204 \r\n\r\nHTTP/1.1 304 \r\ncontent-length: 5\r\n\r\n", "204304"),
    ("HTTP/1.0 200 \r\n\r\nabc", "200[abc]"),
    ("HTTP/1.1 103 \r\ntransfer-encoding: chunked\r\n\r\nHTTP/1.1 204 \r\n\r\n", "103204"),
    ("HTTP/1.1 20", ""),
  ])
  func responsesAreRead(_ sample: (text: String, told: String)) {
    #expect(read(sample.text) == sample.told)
  }

  @Test(arguments: [
    "HTTP/2 200\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 099\r\n\r\n",
    "200 OK\r\n\r\n",
    "HTTP/1.1 101 \r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 \r\na\r\n\r\n",
    "HTTP/1.1 200 \r\na: b\r\n c\r\n\r\n",
    "HTTP/1.1 200 \r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n",
    "HTTP/1.1 200 \r\ncontent-length: -1\r\n\r\n",
    "HTTP/1.1 200 \r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 \r\ntransfer-encoding: gzip\r\n\r\n",
    "HTTP/1.1 200 \r\na: \(String(repeating: "b", count: 300))\r\n\r\n",
  ])
  func ambiguousResponsesAreRejected(_ text: String) { #expect(read(text) == "!") }

  @Test(arguments: ["g\r\n", "\r\n", "123456789\r\n", "1\r\nab\r\n", "0\r\nno field\r\n"])
  func invalidChunksAreRejected(_ chunk: String) {
    #expect(read("HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n\(chunk)").hasSuffix("!"))
  }
}
