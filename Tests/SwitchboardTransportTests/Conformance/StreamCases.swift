extension ConformanceCase {
  /// The states and numbers of streams, and their dependencies: sections 5.1 and 5.3.
  static let streams: [ConformanceCase] = [
    ConformanceCase("5.1", "data on a stream that was never opened", .connectionError(.protocolError)) {
      $0.data()
    },
    ConformanceCase("5.1", "a reset of a stream that was never opened", .connectionError(.protocolError)) {
      $0.reset(1)
    },
    ConformanceCase("5.1", "a window of a stream that was never opened", .connectionError(.protocolError)) {
      $0.windowUpdate(1, 100)
    },
    ConformanceCase(
      "5.1",
      "a continuation on a stream that was never opened",
      .connectionError(.protocolError)
    ) {
      $0.frame(Kind.continuation, 4, 1, $0.block())
    },
    ConformanceCase("5.1", "data after the request's end", .streamError(.streamClosed)) {
      $0.headers()
      $0.data()
    },
    ConformanceCase("5.1", "headers after the request's end", .streamError(.streamClosed)) {
      $0.headers()
      $0.headers()
    },
    ConformanceCase(
      "5.1",
      "a continuation after the request's end",
      .streamError(.streamClosed, or: .protocolError)
    ) {
      $0.headers()
      $0.frame(Kind.continuation, 5, 1, $0.block())
    },
    ConformanceCase("5.1", "data after a reset", .streamError(.streamClosed)) {
      $0.headers(ends: false)
      $0.reset(1)
      $0.data()
    },
    ConformanceCase("5.1", "headers after a reset", .streamError(.streamClosed)) {
      $0.headers(ends: false)
      $0.reset(1)
      $0.headers()
    },
    ConformanceCase("5.1", "a continuation after a reset", .streamError(.streamClosed, or: .protocolError)) {
      $0.headers(ends: false)
      $0.reset(1)
      $0.frame(Kind.continuation, 5, 1, $0.block())
    },
    ConformanceCase("5.1", "data after both have ended", .connectionError(.streamClosed)) {
      $0.headers()
      $0.hearOut()
      $0.data()
    },
    ConformanceCase("5.1", "headers after both have ended", .connectionError(.streamClosed)) {
      $0.headers()
      $0.hearOut()
      $0.headers()
    },
    ConformanceCase(
      "5.1",
      "a continuation after both have ended",
      .connectionError(.streamClosed, or: .protocolError)
    ) {
      $0.headers()
      $0.hearOut()
      $0.frame(Kind.continuation, 5, 1, $0.block())
    },
    ConformanceCase("5.1.1", "an even number", .connectionError(.protocolError)) { $0.headers(2) },
    ConformanceCase("5.1.1", "a number below the last", .connectionError(.protocolError)) {
      $0.headers(5)
      $0.headers(3)
    },
    ConformanceCase("5.1.2", "more streams than allowed", .streamError(.protocolError, or: .refusedStream)) {
      for index in 0..<101 { $0.headers(UInt32(2 * index + 1), ends: false) }
    },
    ConformanceCase("5.3.1", "headers that depend on themselves", .streamError(.protocolError)) {
      $0.frame(Kind.headers, 0x25, 1, [0, 0, 0, 1, 255] + $0.block())
    },
    ConformanceCase("5.3.1", "a priority that depends on itself", .streamError(.protocolError)) {
      $0.priority(2, dependsOn: 2)
    },
    ConformanceCase("5.4.1", "a connection at fault is closed", .closed) {
      $0.frame(Kind.ping, 0, 3, [0, 0, 0, 0, 0, 0, 0, 0])
      while $0.next() != nil {}
    },
  ]
}
