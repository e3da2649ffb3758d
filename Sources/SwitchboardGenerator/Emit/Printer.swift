/// Source text in the making, line by line.
struct Printer {
  private(set) var text = ""
  private var margin = ""

  /// An empty text.
  init() { text.reserveCapacity(1 << 16) }

  /// Adds a line.
  mutating func line(_ content: String) {
    text += margin
    text += content
    text += "\n"
  }

  /// Adds a line without a margin.
  mutating func blank() { text += "\n" }

  /// Adds the lines of `body`, further to the right.
  mutating func indented(_ body: (inout Printer) -> Void) {
    margin += "  "
    body(&self)
    margin.removeLast(2)
  }

  /// Adds `head`, `body` further to the right, and the brace that closes it.
  mutating func block(_ head: String, _ body: (inout Printer) -> Void) {
    line(head + " {")
    indented(body)
    line("}")
  }
}
