import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct HTTP1ParserTests {
  /// The events of a parser for some text, fed whole or byte by byte: bodies joined, heads by their path.
  private func events(_ text: String, step: Int, headLimit: Int = 1000) -> [String] {
    var parser = HTTP1Parser(headLimit: headLimit)
    var told: [String] = []
    var body: [UInt8] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: step) {
      let continues = bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { piece in
        var rest = piece
        while true {
          switch parser.next(&rest) {
          case .incomplete: return true
          case .head(let head):
            head.forEachField { name, value in
              guard String(decoding: name, as: UTF8.self) == ":path" else { return }
              told.append("head " + String(decoding: value, as: UTF8.self))
            }
          case .body(let piece): body += piece
          case .end:
            told.append("body " + String(decoding: body, as: UTF8.self))
            body = []
          case .refused(let refusal):
            told.append("\(refusal.status)")
            return false
          }
        }
      }
      if !continues { break }
    }
    return told
  }

  private func expect(_ text: String, _ wanted: [String], headLimit: Int = 1000) {
    #expect(events(text, step: 1, headLimit: headLimit) == wanted)
    #expect(events(text, step: max(text.utf8.count, 1), headLimit: headLimit) == wanted)
    #expect(events(text, step: 3, headLimit: headLimit) == wanted)
  }

  @Test func requestsAreRead() {
    expect("POST /a HTTP/1.1\r\nHost: x\r\n\r\n", ["head /a"])
    expect("\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", ["head /a", "body hi"])
    expect(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nPOST /b HTTP/1.1\r\nHost:\r\n\r\n",
      ["head /a", "head /b"]
    )
    expect(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nA ; x=y z\t\r\n0123456789\r\n00\r\nt: v\r\n\r\n"
        + "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
      ["head /a", "body hi0123456789", "head *"]
    )
    expect("POST https://x:1/a/b HTTP/1.1\r\nHost: x\r\n\r\n", ["head /a/b"])
    expect("POST http://x HTTP/1.1\r\nHost: x\r\n\r\n", ["head /"])
    expect("POST http://[::1]:80/a?b HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", ["head /a?b"])
  }

  @Test(arguments: ["x y", "x/y", "u@x", "x?y", "x#y", "x\\y", "x<y", "x\ty"])
  func invalidHostsAreRejected(_ host: String) {
    expect("POST /a HTTP/1.1\r\nHost: \(host)\r\n\r\n", ["400"])
  }

  /// What follows the host up to a slash is not part of it, nor is the slash then the beginning of the path.
  @Test(arguments: ["http:///a", "http://x?/a", "http://x#/a", "https://u@x/a", "http://x\\/a", "ftp://x/a"])
  func invalidTargetsAreRejected(_ target: String) {
    expect("POST \(target) HTTP/1.1\r\nHost: x\r\n\r\n", ["400"])
  }

  @Test(arguments: [
    "\r\n\r\nPOST /a HTTP/1.1\r\n", "POST  /a HTTP/1.1\r\n", "POST /a\r\n", "PO(T /a HTTP/1.1\r\n",
    " /a HTTP/1.1\r\n",
    "POST a HTTP/1.1\r\n", "POST /\u{7f} HTTP/1.1\r\n", "POST /a HTTP/1.1\n", "POST /a HTTQ/1.1\r\n",
    "\u{16}\u{3}\u{1}\n",
  ]) func invalidRequestLinesAreRejected(_ text: String) { expect(text, ["400"]) }

  @Test(arguments: [
    "a b: c", "a : c", " a: c", "\ta: c", ": c", "a", "a: b\u{0}c", "a: b\rc", "a\u{0}: c", "ü: c", "Host: y",
    "Content-Length: -1", "Content-Length: +1", "Content-Length: 1 1", "Content-Length: 0x1",
    "Content-Length:",
    "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 99999999999999999999",
    "Content-Length: 1\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
  ]) func invalidFieldsAreRejected(_ field: String) {
    expect("POST /a HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n", ["400"])
  }

  @Test(arguments: [
    ("POST /a HTTP/1.0\r\n", "505"), ("POST /a HTTP/2.0\r\n", "505"),
    ("POST /a HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n", "501"),
    ("POST /a HTTP/1.1\r\nTransfer-Encoding: identity\r\n", "501"),
    ("POST /a HTTP/1.1\r\nExpect: more\r\n", "417"), ("POST /a HTTP/1.1\r\n\r\n", "400"),
  ]) func unsupportedRequestsAreRejected(_ sample: (text: String, status: String)) {
    expect(sample.text, [sample.status])
  }

  @Test(arguments: [
    "g\r\n", "\r\n", "-1\r\n", "123456789\r\n", "2\nhi", "2\r\nhi!\r\n", "2\r\nhi\n", "0x2\r\n",
    String(repeating: "0", count: 300), "1;" + String(repeating: "x", count: 300),
    // Characters in an extension or a trailer that some take for line ends; and sizes that others may parse
    // differently.
    "2;a\rb\r\nhi\r\n", "2;\r\r\nhi\r\n", "2\r\r\nhi\r\n", "2;a\u{0}\r\nhi\r\n", " 2\r\nhi\r\n",
    "2 \r\nhi\r\n",
    "2 x\r\nhi\r\n", "0;a=\"\r0\r\n\r\n", "0\r\na: b\rc\r\n\r\n", "0\r\nno field\r\n\r\n",
    "0\r\n a: b\r\n\r\n",
  ]) func invalidChunksAreRejected(_ chunk: String) {
    let told = events("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, step: 1)
    #expect(told == ["head /a", "400"])
  }

  @Test func tooLargeHeadsAreRefused() {
    expect("POST /" + String(repeating: "a", count: 200), ["431"], headLimit: 100)
    expect(
      "POST /a HTTP/1.1\r\nHost: x\r\n" + String(repeating: "a: b\r\n", count: 30),
      ["431"],
      headLimit: 100
    )
    expect(
      "POST /a HTTP/1.1\r\nHost: x\r\n" + String(repeating: "a: b\r\n", count: 130),
      ["431"],
      headLimit: 10_000
    )
    let chunked = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    expect(chunked + "0\r\n" + String(repeating: "a: b\r\n", count: 30), ["head /a", "400"], headLimit: 100)
  }

  /// Any input is parsed or rejected, and a rejection is final.
  @Test func randomBytesDoNoHarm() {
    var random = SystemRandomNumberGenerator()
    let words = [
      "POST ", "/a", " HTTP/1.1", "\r\n", "\r", "\n", "Host: x\r\n", "Content-Length: 5\r\n", ":", "0", "5",
      "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "hello", "\u{0}", " ", "ffffffff", ";",
    ]
    for _ in 0..<200 {
      let text = (0..<20).map { _ in words.randomElement(using: &random) ?? "" }.joined()
      #expect(events(text, step: 1) == events(text, step: 1000))
    }
  }
}
