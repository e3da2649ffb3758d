import SwitchboardCall

/// Options with one of them changed.
package struct OptionSample<Options: RuledOptions>: Sendable, CustomStringConvertible {
  package let name: String
  /// The option's value.
  package let value: String
  package let options: Options

  package var description: String { "\(name) is \(value)" }

  /// Whether the error says which option has which value, and what is allowed.
  package func isRefused(by error: GRPCStatus?) -> Bool {
    error?.code == .invalidArgument && error?.message?.hasPrefix("\(description): it must be ") == true
  }
}

/// All values of options that a program may get wrong.
package enum OptionWalk {
  /// The numbers and durations among the stored properties.
  package static func numbers(in options: Any) -> Set<String> {
    Set(
      Mirror(reflecting: options).children.lazy
        .filter { type(of: $0.value) is any Sampled.Type }
        .compactMap(\.label)
    )
  }

  /// The options that have rules.
  package static func ruled<Options: RuledOptions>(_: Options.Type) -> Set<String> {
    Set(Options.rules.map(\.name))
  }

  /// `standard` with each option that has a rule at -1, 0, 1 and its maximum.
  package static func samples<Options: RuledOptions>(of standard: Options) -> [OptionSample<Options>] {
    Options.rules.flatMap { rule -> [OptionSample<Options>] in
      guard let type = type(of: rule.option).valueType as? any Sampled.Type else { return [] }
      return samples(type, rule, standard)
    }
  }

  private static func samples<Options: RuledOptions, Value: Sampled>(
    _: Value.Type,
    _ rule: OptionRule<Options>,
    _ standard: Options
  ) -> [OptionSample<Options>] {
    guard let option = rule.option as? WritableKeyPath<Options, Value> else { return [] }
    return Value.samples.map { value in
      var options = standard
      options[keyPath: option] = value
      // A message does not show its properties.
      guard !(options is any CustomReflectable) else {
        return OptionSample(name: rule.name, value: value.text, options: options)
      }
      // By its name, in case the rule has that of another option.
      let property = Mirror(reflecting: options).children.first { $0.label == rule.name }
      let found = (property?.value as? Value)?.text ?? "missing"
      return OptionSample(name: rule.name, value: found, options: options)
    }
  }
}

/// A number or a duration.
private protocol Sampled {
  static var samples: [Self] { get }
  var text: String { get }
}

extension Sampled {
  var text: String { "\(self)" }
}

extension FixedWidthInteger where Self: Sampled {
  static var samples: [Self] { [0, 1, .max, .min] + (Self(exactly: -1).map { [$0] } ?? []) }
}

extension BinaryFloatingPoint where Self: Sampled {
  static var samples: [Self] { [-1, 0, 1, .greatestFiniteMagnitude, .infinity, .nan] }
}

extension Int: Sampled {}
extension Int32: Sampled {}
extension Int64: Sampled {}
extension UInt: Sampled {}
extension UInt8: Sampled {}
extension UInt16: Sampled {}
extension UInt32: Sampled {}
extension UInt64: Sampled {}
extension Float: Sampled {}
extension Double: Sampled {}

extension Duration: Sampled {
  static var samples: [Duration] { [.seconds(-1), .zero, .seconds(1), .seconds(Int64.max)] }
}

extension Optional: Sampled where Wrapped: Sampled {
  static var samples: [Wrapped?] { [nil] + Wrapped.samples }
  var text: String { self?.text ?? "nil" }
}
