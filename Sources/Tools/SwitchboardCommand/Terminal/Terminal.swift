#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The properties of the terminal. This is the only place that queries the system for them.
struct Terminal: Sendable, Hashable {
  /// Whether the stream is a terminal, not a file or a pipe.
  var isTerminal: Bool
  /// Whether to use colors: on a terminal, unless it is dumb or `NO_COLOR` is set; elsewhere only with
  /// `CLICOLOR_FORCE`.
  var hasColor: Bool
  var columns: Int
  var rows: Int

  /// A stream of the process.
  enum Stream: Int32 {
    case input = 0
    case output = 1
    case errors = 2
  }

  /// Queries the system. The size changes when the user resizes the window, so query again for each drawing.
  static func current(
    _ stream: Stream = .output,
    _ environment: (String) -> String? = Self.environment
  ) -> Terminal {
    let isTerminal = isatty(stream.rawValue) == 1
    var size = winsize()
    let hasSize = isTerminal && ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return Terminal(
      isTerminal: isTerminal,
      hasColor: wantsColor(isTerminal: isTerminal, environment),
      columns: hasSize ? Int(size.ws_col) : given(environment("COLUMNS")) ?? 80,
      rows: hasSize ? Int(size.ws_row) : given(environment("LINES")) ?? 24
    )
  }

  /// A size from the environment, if it is a plausible one.
  private static func given(_ text: String?) -> Int? {
    text.flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
  }

  static func wantsColor(isTerminal: Bool, _ environment: (String) -> String?) -> Bool {
    // https://no-color.org: any value but an empty one.
    if environment("NO_COLOR")?.isEmpty == false { return false }
    if let forced = environment("CLICOLOR_FORCE"), !forced.isEmpty, forced != "0" { return true }
    return isTerminal && environment("TERM") != "dumb"
  }

  /// A variable of the environment.
  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
