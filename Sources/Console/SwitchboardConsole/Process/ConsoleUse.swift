import SwitchboardCall

/// What is done with a console, so that the log can say, once, what was forgotten.
final class ConsoleUse: Sendable {
  private struct State: Sendable {
    /// Whether the page is somewhere.
    var isPlaced = false
    /// Whether the log says that others can read the page.
    var isReadable = false
    /// Whether nothing needs to be said any more of what is shown.
    var isSettled = false
  }

  private let state = Locked(State())
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  /// The page is given to a server.
  func pageWasPlaced() { state.withLock { $0.isPlaced = true } }

  /// Somebody looks at the page, which shows servers or channels or does not.
  func pageWasRead(showsAny: Bool) {
    let isNews = state.withLock { state in
      defer { state.isSettled = true }
      return !state.isSettled && !showsAny
    }
    guard isNews else { return }
    logger.log(
      .warning,
      "the console shows no connections: add(_:name:) was called with no server, and with no channel that has connections of "
        + "its own"
    )
  }

  /// The page is served where others can read what it is sent.
  func pageIsReadable(at host: String) {
    let isNews = state.withLock { state in
      defer { state.isReadable = true }
      return !state.isReadable
    }
    guard isNews else { return }
    logger.log(
      .warning,
      "the console is served without TLS to other machines, so its token and what it shows can be read on the way: give its "
        + "pages() to a server with TLS, or serve it on a loopback address",
      ["host": host]
    )
  }

  /// Nothing keeps the console, as the servers do that have its page.
  func consoleWasReleased() {
    guard !state.withLock(\.isPlaced) else { return }
    logger.log(
      .warning,
      "a console was made whose page is nowhere: call its serve(port:), or give its pages() to the options of a server"
    )
  }
}
