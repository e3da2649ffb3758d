/// Options with a rule for each number and each duration among them, which a test demands.
package protocol RuledOptions: Sendable {
  static var rules: [OptionRule<Self>] { get }
}

extension RuledOptions {
  /// Throws `INVALID_ARGUMENT` for the first option that breaks its rule.
  package func checkRules() throws(GRPCStatus) {
    for rule in Self.rules { try rule.check(self) }
  }
}

/// The values that an option may have.
package enum OptionRange<Number: Comparable & Sendable>: Sendable {
  case any
  case atLeast(Number)
  case above(Number)
  case within(ClosedRange<Number>)

  func contains(_ number: Number) -> Bool {
    switch self {
    case .any: true
    case .atLeast(let least): number >= least
    case .above(let bound): number > bound
    case .within(let range): range.contains(number)
    }
  }
}

extension OptionRange {
  /// Throws `INVALID_ARGUMENT` for another value. The error names the option, the value, the range and `reason`.
  package func check(
    _ number: Number,
    _ name: String,
    because reason: String? = nil
  ) throws(GRPCStatus) {
    try check(number, name, or: "", reason)
  }

  /// `other` is what is allowed besides the range.
  fileprivate func check(
    _ number: Number,
    _ name: String,
    or other: String,
    _ reason: String?
  ) throws(GRPCStatus) {
    guard !contains(number) else { return }
    throw .invalidOption(
      "\(name) is \(number): it must be \(self)\(other)" + (reason.map { ", because \($0)" } ?? "")
    )
  }
}

extension OptionRange: CustomStringConvertible {
  package var description: String {
    switch self {
    case .any: "any"
    case .atLeast(let least): "at least \(least)"
    case .above(let bound): "more than \(bound)"
    case .within(let range): "from \(range.lowerBound) to \(range.upperBound)"
    }
  }
}

/// The range of one option.
package struct OptionRule<Options>: Sendable {
  package let name: String
  package let option: PartialKeyPath<Options> & Sendable
  let check: @Sendable (Options) throws(GRPCStatus) -> Void

  /// See `OptionRange.check`.
  package init<Number>(
    _ option: KeyPath<Options, Number> & Sendable,
    _ name: String,
    _ range: OptionRange<Number>,
    because reason: String? = nil
  ) {
    self.name = name
    self.option = option
    check = { options throws(GRPCStatus) in
      try range.check(options[keyPath: option], name, because: reason)
    }
  }

  /// The same for an option that may be `nil`, which users of files know by another name.
  package init<Number>(
    _ option: KeyPath<Options, Number?> & Sendable,
    _ name: String,
    _ range: OptionRange<Number>,
    or none: String = "nil",
    because reason: String? = nil
  ) {
    self.name = name
    self.option = option
    check = { options throws(GRPCStatus) in
      guard let number = options[keyPath: option] else { return }
      try range.check(number, name, or: ", or \(none)", reason)
    }
  }
}

extension GRPCStatus {
  package static func invalidOption(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: reason)
  }
}
