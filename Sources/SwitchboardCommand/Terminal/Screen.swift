/// Lines that are drawn in place again and again on a terminal; elsewhere each drawing follows the one before.
struct Screen {
  private var height = 0

  init() {}

  mutating func show(_ lines: [String], on terminal: Terminal) throws {
    guard terminal.isTerminal else { return try Output.write((lines + [""]).joined(separator: "\n")) }
    // What does not fit would scroll, and then the cursor would not find back.
    var shown = Array(lines.prefix(max(terminal.rows - 1, 1)))
    if shown.count < lines.count, let last = shown.indices.last {
      shown[last] = "… \(lines.count - shown.count + 1) lines more"
    }
    let back = height > 0 ? "\u{1B}[\(height)A\r" : ""
    // Each line is cut at the edge by switching wrapping off, and what was behind it before is erased.
    let text = shown.map { "\($0)\u{1B}[K\n" }.joined()
    try Output.write(bytes: Array("\(back)\u{1B}[?7l\(text)\u{1B}[J\u{1B}[?7h".utf8))
    height = shown.count
  }
}
