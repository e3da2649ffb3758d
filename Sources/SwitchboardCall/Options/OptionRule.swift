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

  /// The error for another value names the option, the value, the range and `reason`.
  package init<Number>(
    _ option: KeyPath<Options, Number> & Sendable,
    _ name: String,
    _ range: OptionRange<Number>,
    because reason: String? = nil
  ) {
    self.init(option, name, "\(range)", reason) { options in
      let number = options[keyPath: option]
      return range.contains(number) ? nil : number
    }
  }

  /// The same for an option that may be `nil`.
  package init<Number>(
    _ option: KeyPath<Options, Number?> & Sendable,
    _ name: String,
    _ range: OptionRange<Number>,
    because reason: String? = nil
  ) {
    self.init(option, name, "\(range), or nil", reason) { options in
      options[keyPath: option].flatMap { range.contains($0) ? nil : $0 }
    }
  }

  private init<Number>(
    _ option: PartialKeyPath<Options> & Sendable,
    _ name: String,
    _ allowed: String,
    _ reason: String?,
    wrong: @escaping @Sendable (Options) -> Number?
  ) {
    self.name = name
    self.option = option
    check = { options throws(GRPCStatus) in
      guard let number = wrong(options) else { return }
      throw .invalidOption(
        "\(name) is \(number): it must be \(allowed)" + (reason.map { ", because \($0)" } ?? "")
      )
    }
  }
}

extension GRPCStatus {
  package static func invalidOption(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: reason)
  }
}
