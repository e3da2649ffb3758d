extension ConformanceCase {
  /// Actions that every client may perform and the server must support.
  static let general: [ConformanceCase] = [
    ConformanceCase("3.4", "a client's greeting", .settingsAcknowledged) { _ in },
    ConformanceCase("3.4", "a greeting that is none", .closed, greets: false) {
      $0.raw(Array("INVALID CONNECTION PREFACE\r\n\r\n".utf8))
    },
    ConformanceCase("3.4", "a greeting without settings", .connectionError(.protocolError), greets: false) {
      $0.raw(
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 8, 6, 0, 0, 0, 0, 0] + [
          1, 2, 3, 4, 5, 6, 7, 8,
        ]
      )
    },
    ConformanceCase("8.1", "a GET", .response()) { $0.headers(1, $0.fields(method: "GET")) },
    ConformanceCase("8.1", "a HEAD", .response()) { $0.headers(1, $0.fields(method: "HEAD")) },
    ConformanceCase("8.1", "an OPTIONS of everything", .response(), requests: [.plain]) {
      $0.headers(1, $0.fields(method: "OPTIONS", changing: [":path": "*"]))
    },
    ConformanceCase("8.1", "a POST", .response()) {
      $0.headers(ends: false)
      $0.data()
    },
    ConformanceCase("8.1", "a POST in several pieces", .response()) {
      $0.headers(ends: false)
      $0.data(ends: false)
      $0.data(ends: false)
      $0.data()
    },
    ConformanceCase("8.1", "a POST with padding", .response()) {
      $0.headers(ends: false)
      $0.frame(Kind.data, 9, 1, [3] + Array("test".utf8) + [0, 0, 0])
    },
    ConformanceCase("8.1", "a POST with trailers", .response()) {
      $0.headers(ends: false)
      $0.data(ends: false)
      $0.headers(1, [("x-test", "ok")])
    },
    ConformanceCase("8.1.1", "a POST of the length that it announces", .response()) {
      $0.headers(1, $0.fields(last: [("content-length", "4")]), ends: false)
      $0.data()
    },
    ConformanceCase("8.2.3", "cookies in pieces", .response()) {
      $0.headers(1, $0.fields(last: [("cookie", "a=b"), ("cookie", "c=d")]))
    },
    ConformanceCase("6.2", "headers with padding", .response()) {
      $0.frame(Kind.headers, 13, 1, [3] + $0.block() + [0, 0, 0])
    },
    ConformanceCase("6.2", "headers with a priority", .response()) {
      $0.frame(Kind.headers, 0x25, 1, [0x80, 0, 0, 11, 255] + $0.block())
    },
    ConformanceCase("6.3", "priorities before, during and after a request", .response(stream: 5)) {
      $0.priority(1, dependsOn: 0)
      $0.headers(1)
      $0.priority(1, dependsOn: 3, weight: 255)
      $0.hearOut()
      $0.priority(1, dependsOn: 0x8000_0003)
      $0.priority(7, dependsOn: 5)
      $0.headers(5)
    },
    ConformanceCase("6.4", "a reset of a request that was made", .pingAnswer(Array("switchbd".utf8))) {
      $0.headers(ends: false)
      $0.reset(1)
      $0.ping()
    },
    ConformanceCase(
      "5.1",
      "a window and a reset after the request's end",
      .pingAnswer(Array("switchbd".utf8))
    ) {
      $0.headers()
      $0.windowUpdate(1, 100)
      $0.reset(1)
      $0.ping()
    },
    ConformanceCase("5.1", "a reset of a stream that is over", .pingAnswer(Array("switchbd".utf8))) {
      $0.headers()
      $0.hearOut()
      $0.reset(1, 0)
      $0.windowUpdate(1, 1)
      $0.ping()
    },
    ConformanceCase("6.7", "a ping", .pingAnswer([1, 2, 3, 4, 5, 6, 7, 8])) {
      $0.ping([1, 2, 3, 4, 5, 6, 7, 8])
    },
    ConformanceCase("6.7", "a ping's answer that nobody asked for", .pingAnswer([1, 1, 1, 1, 1, 1, 1, 1])) {
      $0.frame(Kind.ping, 1, 0, [0, 0, 0, 0, 0, 0, 0, 0])
      $0.ping([1, 1, 1, 1, 1, 1, 1, 1])
    },
    ConformanceCase("6.8", "a farewell with an unknown code", .pingAnswerOrEnd) {
      $0.frame(Kind.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 255])
      $0.ping()
    },
    ConformanceCase("7", "a reset with an unknown code", .pingAnswer(Array("switchbd".utf8))) {
      $0.headers(ends: false)
      $0.reset(1, 255)
      $0.ping()
    },
    ConformanceCase("6.9", "windows, of the connection and a stream", .response()) {
      $0.windowUpdate(0, 1)
      $0.headers(ends: false)
      $0.windowUpdate(1, 1)
      $0.data()
    },
  ]
}
