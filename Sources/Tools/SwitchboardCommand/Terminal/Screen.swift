/// Lines that are redrawn in place on a terminal. Elsewhere, each drawing follows the previous one.
struct Screen {
  private var height = 0

  init() {}

  mutating func show(_ lines: [ShownText], on terminal: Terminal) throws {
    guard terminal.isTerminal else { return try Output.write((lines + [""]).joined(separator: "\n")) }
    // Lines that do not fit would scroll the screen, and the cursor could not return to the start.
    var shown = Array(lines.prefix(max(terminal.rows - 1, 1)))
    if shown.count < lines.count, let last = shown.indices.last {
      shown[last] = "… \(lines.count - shown.count + 1) more lines"
    }
    let back: ShownText = height > 0 ? "\u{1B}[\(height)A\r" : ""
    // With wrapping switched off, each line is cut at the edge. The rest of the old line is erased.
    let text = shown.map { line -> ShownText in "\(line)\u{1B}[K\n" }.joined()
    try Output.write("\(back)\u{1B}[?7l\(text)\u{1B}[J\u{1B}[?7h", end: "")
    height = shown.count
  }
}
