#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What the command knows of the terminal that it writes to. This is the one place that asks the system.
struct Terminal: Sendable, Hashable {
  /// Whether there is a terminal, and not a file or a pipe.
  var isTerminal: Bool
  /// Whether colours are wanted: on a terminal, unless `NO_COLOR` is set or it is a dumb one; elsewhere if
  /// `CLICOLOR_FORCE` asks for them.
  var hasColor: Bool
  var columns: Int
  var rows: Int

  /// A stream of the process.
  enum Stream: Int32 {
    case input = 0
    case output = 1
    case errors = 2
  }

  /// Asks the system. The size changes when the user drags the window: ask again for each picture that is drawn.
  static func current(_ stream: Stream = .output) -> Terminal {
    let isTerminal = isatty(stream.rawValue) == 1
    var size = winsize()
    let hasSize = isTerminal && ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return Terminal(
      isTerminal: isTerminal,
      hasColor: wantsColor(isTerminal: isTerminal, environment),
      columns: hasSize ? Int(size.ws_col) : given("COLUMNS") ?? 80,
      rows: hasSize ? Int(size.ws_row) : given("LINES") ?? 24
    )
  }

  /// A size that the environment says, as far as a terminal can have it.
  private static func given(_ name: String) -> Int? {
    environment(name).flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
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
