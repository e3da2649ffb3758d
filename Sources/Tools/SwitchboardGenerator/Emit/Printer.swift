/// A buffer for source text, line by line.
struct Printer {
  private(set) var text = ""
  private var margin = ""

  /// An empty buffer.
  init() { text.reserveCapacity(1 << 16) }

  /// Adds a line.
  mutating func line(_ content: String) {
    text += margin
    text += content
    text += "\n"
  }

  /// Adds an empty line.
  mutating func blank() { text += "\n" }

  /// Adds the lines of `body` for each item, with an empty line between two of them.
  mutating func separated<Item>(_ items: [Item], _ body: (inout Printer, Item) -> Void) {
    for (position, item) in items.enumerated() {
      if position > 0 { blank() }
      body(&self, item)
    }
  }

  /// Adds the lines of `body`, indented.
  mutating func indented(_ body: (inout Printer) -> Void) {
    margin += "  "
    body(&self)
    margin.removeLast(2)
  }

  /// Adds `head`, `body` indented, and the closing brace.
  mutating func block(_ head: String, _ body: (inout Printer) -> Void) {
    line(head + " {")
    indented(body)
    line("}")
  }
}
