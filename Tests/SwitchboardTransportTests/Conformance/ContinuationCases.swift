import HTTP2TestSupport

extension ConformanceCase {
  private static func halves(_ dialogue: Dialogue) -> ([UInt8], [UInt8]) {
    let block = dialogue.block()
    return (Array(block.prefix(block.count / 2)), Array(block.dropFirst(block.count / 2)))
  }

  /// Headers in several frames: sections 4.3, 6.2 and 6.10.
  static let continuation: [ConformanceCase] = [
    ConformanceCase("6.10", "headers and a continuation", .response()) {
      let (first, second) = halves($0)
      $0.frame(Kind.headers, 1, 1, first)
      $0.frame(Kind.continuation, 4, 1, second)
    },
    ConformanceCase("6.10", "headers and several continuations", .response()) {
      let (first, second) = halves($0)
      $0.frame(Kind.headers, 1, 1, first)
      $0.frame(Kind.continuation, 0, 1, second)
      $0.frame(Kind.continuation, 4, 1, FramePeer.block([("x", "y")]))
    },
    ConformanceCase("6.10", "a continuation of nothing", .response()) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.frame(Kind.continuation, 4, 1)
    },
    ConformanceCase("4.3", "a priority among headers", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.priority(1, dependsOn: 0)
    },
    ConformanceCase("4.3", "another stream's headers among headers", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.headers(3)
    },
    ConformanceCase("6.10", "data among headers", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 0, 1, $0.block())
      $0.frame(Kind.continuation, 0, 1, FramePeer.block([("x", "y")]))
      $0.data()
    },
    ConformanceCase("6.10", "a continuation on another stream", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.frame(Kind.continuation, 4, 3, FramePeer.block([("x", "y")]))
    },
    ConformanceCase("6.10", "a continuation on the connection", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.frame(Kind.continuation, 4, 0, FramePeer.block([("x", "y")]))
    },
    ConformanceCase("6.10", "a continuation after whole headers", .connectionError(.protocolError)) {
      $0.headers(ends: false)
      $0.frame(Kind.continuation, 4, 1, FramePeer.block([("x", "y")]))
    },
    ConformanceCase("6.10", "a continuation after the last one", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 0, 1, $0.block())
      $0.frame(Kind.continuation, 4, 1, FramePeer.block([("x", "y")]))
      $0.frame(Kind.continuation, 4, 1, FramePeer.block([("x", "y")]))
    },
    ConformanceCase("6.10", "a continuation after data", .connectionError(.protocolError)) {
      $0.headers(ends: false)
      $0.data(ends: false)
      $0.frame(Kind.continuation, 4, 1, FramePeer.block([("x", "y")]))
    },
  ]
}
