import Switchboard
import SwitchboardDynamic

/// The request of `list` and `describe`: a source, and optionally a symbol. The arguments name a server only if they
/// name no files.
struct SchemaRequest {
  let source: SchemaSource
  let symbol: String?
  private let channel: Channel?

  /// Errors refer to the help of `verb`.
  init(_ arguments: Arguments, of verb: String) throws {
    if let files = try SchemaSource.files(arguments) {
      guard arguments.operands.count <= 1 else {
        throw Failure.usage("--proto and --descriptor-set take no TARGET")
      }
      // A symbol contains no colon.
      if let first = arguments.operand(0), first.contains(":") {
        throw Failure.usage("--proto and --descriptor-set take no TARGET, such as '\(first)'")
      }
      if let flag = TargetFlags.group.flags.first(where: arguments.has) {
        throw Failure.usage("\(flag.name) is about a server, and --proto and --descriptor-set need none")
      }
      source = files
      symbol = arguments.operand(0)
      channel = nil
    } else {
      guard arguments.operand(0) != nil else {
        throw Failure.usage("missing: TARGET, --proto FILE or --descriptor-set FILE", verb: verb)
      }
      let target = try Target(arguments)
      let channel = try target.channel()
      source = .reflection(ReflectionClient(target, channel))
      symbol = arguments.operand(1)
      self.channel = channel
    }
  }

  /// Keeps the channel alive until here.
  func close() { withExtendedLifetime(channel) {} }
}
