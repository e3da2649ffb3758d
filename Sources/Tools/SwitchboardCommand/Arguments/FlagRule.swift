/// Which flags have an effect only beside another one, or none beside it. Whoever writes a flag expects an effect, so that one
/// without is refused.
///
/// What depends on more than which flags there are, such as the kind of the method that is called, is refused with
/// ``Failure/withoutEffect(_:_:)`` where it is known.
struct FlagRule: Sendable {
  private let flags: [Flag]
  private let mistake: @Sendable (Flag, Arguments) -> Failure?

  /// The flags have an effect only beside another, which messages show as `written`.
  static func need(_ flags: [Flag], _ other: Flag, as written: String? = nil) -> FlagRule {
    FlagRule(flags: flags) { flag, arguments in
      arguments.has(other) ? nil : .usage("\(flag.name) needs \(written ?? other.name)")
    }
  }

  /// The flags have no effect beside another, which says what it does instead.
  static func unused(_ flags: [Flag], beside other: Flag, _ reason: String) -> FlagRule {
    FlagRule(flags: flags) { flag, arguments in
      arguments.has(other) ? .withoutEffect(flag, "\(other.name) \(reason)") : nil
    }
  }

  /// At most one of the flags is `@-`, once: what one has read of standard input, no other gets.
  static func oneInput(_ flags: [Flag]) -> FlagRule {
    FlagRule(flags: flags) { _, arguments in
      let readers = flags.flatMap { flag in arguments.all(flag).filter { $0 == "@-" }.map { _ in flag.name } }
      guard let first = readers.first, let second = readers.dropFirst().first else { return nil }
      return .usage("\(first) @- and \(second) @- both read standard input, which has its text only once")
    }
  }

  /// Throws if the flags that were given break the rule.
  func check(_ arguments: Arguments) throws(Failure) {
    for flag in flags where arguments.has(flag) {
      if let failure = mistake(flag, arguments) { throw failure }
    }
  }
}
