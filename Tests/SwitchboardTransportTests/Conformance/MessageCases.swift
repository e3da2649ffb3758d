extension ConformanceCase {
  /// Header blocks that are well-formed but not a valid request: section 8.
  static let messages: [ConformanceCase] =
    malformed.map { section, name, make in
      ConformanceCase(section, name, .streamError(.protocolError)) { $0.headers(1, make($0)) }
    } + [
      ConformanceCase("8.1", "second headers that do not end the request", .streamError(.protocolError)) {
        $0.headers(ends: false)
        $0.headers(1, [("x-test", "ok")], ends: false)
      },
      ConformanceCase("8.1", "a pseudo-header among the trailers", .streamError(.protocolError)) {
        $0.headers(ends: false)
        $0.headers(1, [(":method", "POST")])
      },
      ConformanceCase("8.1.1", "less than it announces", .streamError(.protocolError)) {
        $0.headers(1, $0.fields(last: [("content-length", "5")]), ends: false)
        $0.data()
      },
      ConformanceCase("8.1.1", "more than it announces", .streamError(.protocolError)) {
        $0.headers(1, $0.fields(last: [("content-length", "1")]), ends: false)
        $0.data()
      },
      ConformanceCase("8.1.1", "more than it announces, in pieces", .streamError(.protocolError)) {
        $0.headers(1, $0.fields(last: [("content-length", "5")]), ends: false)
        $0.data(ends: false)
        $0.data()
      },
      ConformanceCase("8.1.1", "an announcement, and nothing", .streamError(.protocolError)) {
        $0.headers(1, $0.fields(last: [("content-length", "5")]))
      },
    ]

  private static let malformed: [(String, String, @Sendable (Dialogue) -> [(String, String)])] = [
    ("8.2.1", "a name in upper case", { $0.fields(last: [("X-TEST", "ok")]) }),
    ("8.2.1", "a name with a space", { $0.fields(last: [("x test", "ok")]) }),
    ("8.2.1", "a name that is empty", { $0.fields(last: [("", "ok")]) }),
    ("8.2.1", "a name with a byte above 127", { $0.fields(last: [("x-t\u{e9}st", "ok")]) }),
    ("8.2.1", "a value with a line's end", { $0.fields(last: [("x-test", "o\r\nk")]) }),
    ("8.2.1", "a value with a zero", { $0.fields(last: [("x-test", "o\0k")]) }),
    ("8.2.2", "connection", { $0.fields(last: [("connection", "keep-alive")]) }),
    ("8.2.2", "proxy-connection", { $0.fields(last: [("proxy-connection", "keep-alive")]) }),
    ("8.2.2", "keep-alive", { $0.fields(last: [("keep-alive", "timeout=5")]) }),
    ("8.2.2", "transfer-encoding", { $0.fields(last: [("transfer-encoding", "chunked")]) }),
    ("8.2.2", "upgrade", { $0.fields(last: [("upgrade", "websocket")]) }),
    (
      "8.2.2", "te that is not trailers",
      { $0.fields(changing: ["te": nil], last: [("te", "trailers, deflate")]) }
    ),
    ("8.3", "a pseudo-header that nobody knows", { $0.fields(first: [(":test", "ok")]) }),
    ("8.3", "a response's pseudo-header", { $0.fields(first: [(":status", "200")]) }),
    (
      "8.3", "a pseudo-header after a header",
      { $0.fields(changing: [":path": nil], last: [("x", "y"), (":path", "/")]) }
    ),
    ("8.3.1", "an empty path", { $0.fields(changing: [":path": ""]) }),
    ("8.3.1", "a path without a slash", { $0.fields(changing: [":path": "test"]) }),
    ("8.3.1", "no method", { $0.fields(changing: [":method": nil]) }),
    ("8.3.1", "no scheme", { $0.fields(changing: [":scheme": nil]) }),
    ("8.3.1", "no path", { $0.fields(changing: [":path": nil]) }),
    ("8.3.1", "two methods", { $0.fields(first: [(":method", "POST")]) }),
    ("8.3.1", "two schemes", { $0.fields(first: [(":scheme", "http")]) }),
    ("8.3.1", "two paths", { $0.fields(first: [(":path", "/")]) }),
    ("8.3.1", "two authorities", { $0.fields(first: [(":authority", "test")]) }),
  ]
}
