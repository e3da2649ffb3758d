extension ConformanceCase {
  private static let pong: Expectation = .pingAnswer(Array("switchbd".utf8))

  /// The format of frames: sections 4, 5.5 and 6.
  static let frames: [ConformanceCase] = [
    ConformanceCase("4.1", "a frame of a type that nobody knows", pong) {
      $0.frame(255, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
      $0.ping()
    },
    ConformanceCase("4.1", "flags that nobody knows", .pingAnswer([0, 0, 0, 0, 0, 0, 0, 0])) {
      $0.frame(Kind.ping, 0x16, 0, [0, 0, 0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("4.1", "the bit that means nothing", .pingAnswer([0, 0, 0, 0, 0, 0, 0, 0])) {
      $0.frame(Kind.ping, 0, 0x8000_0000, [0, 0, 0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("4.2", "data of the largest size that all take", .response()) {
      $0.headers(ends: false)
      $0.data(1, [UInt8](repeating: 0, count: 16384))
    },
    ConformanceCase("4.2", "data that is larger than announced", .streamError(.frameSize)) {
      $0.headers(ends: false)
      $0.data(1, [UInt8](repeating: 0, count: 65537))
    },
    ConformanceCase("4.2", "headers that are larger than announced", .connectionError(.frameSize)) {
      $0.frame(Kind.headers, 5, 1, $0.block() + [UInt8](repeating: 0, count: 65537))
    },
    ConformanceCase("4.2", "settings that are larger than announced", .connectionError(.frameSize)) {
      $0.frame(Kind.settings, 0, 0, [UInt8](repeating: 255, count: 65538))
    },
    ConformanceCase("5.5", "an extension's frame on a stream", .response()) {
      $0.headers(ends: false)
      $0.frame(0xf0, 0, 1, [1, 2, 3])
      $0.data()
    },
    ConformanceCase("5.5", "an extension's frame among headers", .connectionError(.protocolError)) {
      $0.frame(Kind.headers, 1, 1, $0.block())
      $0.frame(0xf0, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
    },

    ConformanceCase("6.1", "data on the connection", .connectionError(.protocolError)) {
      $0.headers(ends: false)
      $0.data(0)
    },
    ConformanceCase("6.1", "more padding than data", .connectionError(.protocolError)) {
      $0.headers(ends: false)
      $0.frame(Kind.data, 9, 1, [6] + Array("test".utf8))
    },
    ConformanceCase("6.2", "headers on the connection", .connectionError(.protocolError)) { $0.headers(0) },
    ConformanceCase("6.2", "more padding than headers", .connectionError(.protocolError)) {
      let block = $0.block()
      $0.frame(Kind.headers, 13, 1, [UInt8(block.count + 2)] + block)
    },
    ConformanceCase("6.3", "a priority of the connection", .connectionError(.protocolError)) {
      $0.priority(0, dependsOn: 1)
    },
    ConformanceCase("6.3", "a priority of four bytes", .streamError(.frameSize)) {
      $0.frame(Kind.priority, 0, 1, [0x80, 0, 0, 1])
    },
    ConformanceCase("6.4", "a reset of the connection", .connectionError(.protocolError)) { $0.reset(0) },
    ConformanceCase("6.4", "a reset of three bytes", .connectionError(.frameSize)) {
      $0.headers(ends: false)
      $0.frame(Kind.resetStream, 0, 1, [0, 0, 0])
    },
    ConformanceCase("6.7", "a ping on a stream", .connectionError(.protocolError)) {
      $0.frame(Kind.ping, 0, 1, [0, 0, 0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("6.7", "a ping of six bytes", .connectionError(.frameSize)) {
      $0.ping([0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("6.8", "a farewell on a stream", .connectionError(.protocolError)) {
      $0.frame(Kind.goAway, 0, 1, [0, 0, 0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("6.8", "a farewell of seven bytes", .connectionError(.frameSize)) {
      $0.frame(Kind.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0])
    },
    ConformanceCase("6.9", "a window update of three bytes", .connectionError(.frameSize)) {
      $0.frame(Kind.windowUpdate, 0, 0, [0, 0, 1])
    },
    ConformanceCase("8.4", "a promise by a client", .connectionError(.protocolError)) {
      $0.frame(Kind.pushPromise, 4, 1, [0, 0, 0, 3] + $0.block())
    },
  ]
}
