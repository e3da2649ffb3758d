/// Parses arguments: flags, flags with a value and operands, in any order.
struct ArgumentCursor {
  /// One argument; for a flag with an attached value, only the flag.
  enum Item: Hashable {
    /// A flag with its dashes, without its value.
    case flag(String)
    case operand(String)
  }

  private var rest: ArraySlice<String>
  private var hasOnlyOperands = false
  /// The value attached to the last flag: `--flag=value` or `-Fvalue`.
  private var attached: String?

  init(_ arguments: some Sequence<String>) {
    rest = Array(arguments)[...]
  }

  /// The next item; `nil` at the end.
  mutating func next() -> Item? {
    guard let argument = rest.popFirst() else { return nil }
    if hasOnlyOperands || argument == "-" || !argument.hasPrefix("-") { return .operand(argument) }
    if argument == "--" {
      hasOnlyOperands = true
      return next()
    }
    return .flag(split(argument))
  }

  /// The value of the flag that ``next()`` returned last: attached to it, or the next argument.
  mutating func value(of flag: String, called name: String) throws(UsageError) -> String {
    if let attached, !attached.isEmpty { return attached }
    // An argument that looks like a flag is one: the value was forgotten.
    guard attached == nil, let value = rest.first, !value.isEmpty, !value.hasPrefix("-") else {
      throw UsageError(message: "\(flag) needs a \(name)")
    }
    rest.removeFirst()
    return value
  }

  /// Stores the value attached to a flag and returns the bare flag.
  private mutating func split(_ argument: String) -> String {
    if !argument.hasPrefix("--") {
      attached = argument.count > 2 ? String(argument.dropFirst(2)) : nil
      return String(argument.prefix(2))
    }
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    attached = parts.count == 2 ? String(parts[1]) : nil
    return String(parts[0])
  }
}
