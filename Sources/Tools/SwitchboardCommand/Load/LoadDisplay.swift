import SwitchboardLoad

/// The live display of a run on a terminal. It uses standard error, so that the report can go elsewhere.
struct LoadDisplay: Sendable {
  private let view: LoadView
  private let runner: LoadRunner
  private let first: LiveState

  static let interval = Duration.milliseconds(200)

  init(_ view: LoadView, _ runner: LoadRunner, _ state: LiveState) {
    self.view = view
    self.runner = runner
    first = state
  }

  /// The requested view; none if standard error is not a capable terminal.
  static func possible(_ view: LoadView) -> LoadView {
    Terminal.current(.errors).isTerminal && Terminal.environment("TERM") != "dumb" ? view : .none
  }

  /// Draws until the task is cancelled, and then leaves the terminal as it was.
  func run() async {
    guard view != .none else { return }
    var state = first
    if view == .screen { Self.write(Self.enterScreen) }
    while !Task.isCancelled {
      runner.update(&state)
      draw(state)
      try? await Task.sleep(for: Self.interval)
    }
    Self.leave(view)
  }

  private func draw(_ state: LiveState) {
    // Queried for each drawing, because the window may have been resized.
    let terminal = Terminal.current(.errors)
    let ink = Ink(isColored: terminal.hasColor)
    let fits = terminal.columns >= LiveScreen.smallest.width && terminal.rows >= LiveScreen.smallest.height
    guard view == .screen, fits else {
      let line = ShownText(coloredLines: LiveLine.text(state, width: terminal.columns, ink: ink))
      Self.write("\r\(line)\(Self.eraseLine)")
      return
    }
    let lines = LiveScreen.lines(state, width: terminal.columns, height: terminal.rows, ink: ink).map {
      ShownText(coloredLines: $0) + Self.eraseLine
    }
    Self.write("\u{1b}[H\(lines.joined(separator: "\r\n"))\u{1b}[J")
  }

  /// Erases the display.
  static func leave(_ view: LoadView) {
    switch view {
    case .none: break
    case .line: write("\r\(eraseLine)")
    case .screen: write("\u{1b}[?25h\u{1b}[?1049l")
    }
  }

  private static let enterScreen: ShownText = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J"
  private static let eraseLine: ShownText = "\u{1b}[K"

  private static func write(_ text: ShownText) { Output.note(text, end: "") }
}
