extension ConformanceCase {
  private static let message: [UInt8] = [0, 0, 0, 0, 5, 1, 2, 3, 4, 5]

  /// Settings: section 6.5.
  static let settings: [ConformanceCase] = [
    ConformanceCase("6.5", "an acknowledgment with something in it", .connectionError(.frameSize)) {
      $0.frame(Kind.settings, 1, 0, [0])
    },
    ConformanceCase("6.5", "settings on a stream", .connectionError(.protocolError)) {
      $0.frame(Kind.settings, 0, 1, [0, 3, 0, 0, 0, 100])
    },
    ConformanceCase("6.5", "settings of three bytes", .connectionError(.frameSize)) {
      $0.frame(Kind.settings, 0, 0, [0, 3, 0])
    },
    ConformanceCase("6.5.2", "pushes neither on nor off", .connectionError(.protocolError)) {
      $0.settings([(2, 2)])
    },
    ConformanceCase("6.5.2", "a window above the maximum", .connectionError(.flowControl)) {
      $0.settings([(4, 0x8000_0000)])
    },
    ConformanceCase("6.5.2", "frames below the smallest size", .connectionError(.protocolError)) {
      $0.settings([(5, 16383)])
    },
    ConformanceCase("6.5.2", "frames above the largest size", .connectionError(.protocolError)) {
      $0.settings([(5, 0x100_0000)])
    },
    ConformanceCase("6.5.2", "a setting that nobody knows", .pingAnswer(Array("switchbd".utf8))) {
      $0.settings([(255, 1)])
      $0.ping()
    },
    ConformanceCase("6.5.2", "a table of no size", .response()) {
      $0.settings([(1, 0)])
      $0.headers()
    },
    ConformanceCase("6.5.3", "settings are acknowledged", .settingsAcknowledged) { $0.settings([(3, 100)]) },
    ConformanceCase("6.5.3", "the last of two values counts", .data(first: 1, total: 10), requests: [.grpc]) {
      $0.settings([(4, 100), (4, 1)])
      $0.headers(ends: false)
      $0.data(1, message)
      $0.await(Kind.data)
      $0.windowUpdate(1, 100)
    },
  ]

  /// Windows: section 6.9.
  static let flowControl: [ConformanceCase] = [
    ConformanceCase("6.9", "a window update of nothing", .connectionError(.protocolError)) {
      $0.windowUpdate(0, 0)
    },
    ConformanceCase("6.9", "a stream's window update of nothing", .streamError(.protocolError)) {
      $0.headers(ends: false)
      $0.windowUpdate(1, 0)
    },
    ConformanceCase("6.9.1", "data stays in its window", .data(first: 1, total: 10), requests: [.grpc]) {
      $0.settings([(4, 1)])
      $0.headers(ends: false)
      $0.data(1, message)
      $0.await(Kind.data)
      $0.windowUpdate(1, 1)
      $0.windowUpdate(1, 100)
    },
    ConformanceCase("6.9.1", "a page stays in its window", .data(first: 1, total: 10), requests: [.page]) {
      $0.settings([(4, 1)])
      $0.headers(1, $0.fields(method: "GET"))
      $0.await(Kind.data)
      $0.windowUpdate(1, 9)
    },
    ConformanceCase("6.9.2", "a page's window below zero", .data(first: 3, total: 10), requests: [.page]) {
      $0.settings([(4, 3)])
      $0.headers(1, $0.fields(method: "GET"))
      $0.await(Kind.data)
      $0.settings([(4, 2)])
      $0.windowUpdate(1, 1)
      $0.windowUpdate(1, 2)
      $0.windowUpdate(1, 100)
    },
    ConformanceCase("6.9.1", "a window beyond the largest", .connectionError(.flowControl)) {
      $0.windowUpdate(0, 0x7fff_ffff)
      $0.windowUpdate(0, 0x7fff_ffff)
    },
    ConformanceCase("6.9.1", "a stream's window beyond the largest", .streamError(.flowControl)) {
      $0.headers(ends: false)
      $0.windowUpdate(1, 0x7fff_ffff)
      $0.windowUpdate(1, 0x7fff_ffff)
    },
    ConformanceCase("6.9.2", "a window that is opened later", .data(first: 1, total: 10), requests: [.grpc]) {
      $0.settings([(4, 0)])
      $0.headers(ends: false)
      $0.data(1, message)
      $0.await(Kind.headers)
      $0.settings([(4, 1)])
      $0.await(Kind.data)
      $0.settings([(4, 100)])
    },
    ConformanceCase("6.9.2", "a window below zero", .data(first: 3, total: 10), requests: [.grpc]) {
      $0.settings([(4, 3)])
      $0.headers(ends: false)
      $0.data(1, message)
      $0.await(Kind.data)
      $0.settings([(4, 2)])
      $0.windowUpdate(1, 1)
      $0.windowUpdate(1, 2)
      $0.windowUpdate(1, 100)
    },
    ConformanceCase("6.9.2", "settings that make a stream's window too large", .streamError(.flowControl)) {
      $0.headers(ends: false)
      $0.windowUpdate(1, 0x7fff_0000)
      $0.settings([(4, 0x7fff_ffff)])
    },
  ]
}
