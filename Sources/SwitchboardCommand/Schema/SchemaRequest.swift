import Switchboard

/// What `list` and `describe` are asked: a source, and perhaps a symbol in it. A server is named only where no file is.
struct SchemaRequest {
  let source: SchemaSource
  let symbol: String?
  private let channel: Channel?

  /// `verb` is the one whose help says what is accepted.
  init(_ arguments: Arguments, of verb: String) throws {
    if let files = try SchemaSource.files(arguments) {
      guard arguments.operands.count <= 1 else {
        throw Failure.usage("with --proto or --descriptor-set there is no TARGET")
      }
      // No symbol has a colon.
      if let first = arguments.operand(0), first.contains(":") {
        throw Failure.usage("with --proto or --descriptor-set there is no TARGET, such as '\(first)'")
      }
      source = files
      symbol = arguments.operand(0)
      channel = nil
    } else {
      guard arguments.operand(0) != nil else {
        throw Failure.usage("a TARGET is missing, or --proto FILE, or --descriptor-set FILE", verb: verb)
      }
      let target = try Target(arguments)
      let channel = try target.channel()
      source = .reflection(ReflectionClient(target, channel))
      symbol = arguments.operand(1)
      self.channel = channel
    }
  }

  /// Keeps the channel for as long as there may be questions.
  func close() { withExtendedLifetime(channel) {} }
}
