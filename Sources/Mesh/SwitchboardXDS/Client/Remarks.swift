import SwitchboardCall

/// What the log says of the resources of one response, in few lines: it may change many at once, again and again.
struct Remarks {
  private static let most = 8

  private var first: [(level: LogLevel, text: String)] = []
  private var count = 0

  mutating func add(_ level: LogLevel, _ text: @autoclosure () -> String) {
    count += 1
    if count <= Self.most { first.append((level, text())) }
  }

  var lines: [(level: LogLevel, text: String)] {
    guard count > Self.most else { return first }
    return first + [
      (.warning, "and \(count - Self.most) more that were deleted, are not sent, or are there again")
    ]
  }
}
