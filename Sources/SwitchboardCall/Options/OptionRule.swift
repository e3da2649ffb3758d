/// A set of channel options that `CallOptions` offers by name.
package protocol ChannelOptionSet: Sendable {
  init()
  /// The range and the channel argument of each option that has them.
  static var rules: [OptionRule<Self>] { get }
}

/// The channel argument that sets an option, and the option's range.
package struct OptionRule<Options: ChannelOptionSet>: Sendable {
  let argument: String?
  let take: @Sendable (ChannelArgument, inout ChosenOptions<Options>) throws(GRPCStatus) -> Void
  let check: @Sendable (Options) throws(GRPCStatus) -> Void

  /// A negative argument sets the option to `unlimited`, if given. `name` and `reason` appear in errors.
  init<Value: ChannelOptionValue>(
    _ option: WritableKeyPath<Options, Value> & Sendable,
    _ name: String = "",
    argument: String? = nil,
    unlimited: Value? = nil,
    in range: ClosedRange<Int>? = nil,
    because reason: String? = nil
  ) {
    self.argument = argument
    take = { given, chosen throws(GRPCStatus) in
      var value = unlimited
      if unlimited == nil || !given.isBelowZero { value = try Value(given, of: argument ?? name) }
      if chosen[option] == nil { chosen[option] = value }
    }
    check = { options throws(GRPCStatus) in
      guard let range, let number = options[keyPath: option].number, !range.contains(number) else { return }
      throw .invalidOption("\(name) is \(number): \(reason ?? "it must be within \(range)")")
    }
  }
}

/// A value that a channel argument can set.
protocol ChannelOptionValue: Hashable, Sendable {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus)
  /// The number that the option's range limits.
  var number: Int? { get }
}

extension ChannelOptionValue {
  var number: Int? { nil }
}

extension Int: ChannelOptionValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .integer(let number) = argument else { throw .invalidOption("\(name) is not a number") }
    guard (0...Int(Int32.max)).contains(number) else {
      throw .invalidOption("\(name) is \(number), out of range")
    }
    self = number
  }

  var number: Int? { self }
}

extension Duration: ChannelOptionValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    self = .milliseconds(try Int(argument, of: name))
  }
}

extension Bool: ChannelOptionValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .integer(let number) = argument else { throw .invalidOption("\(name) is not a number") }
    self = number != 0
  }
}

extension String: ChannelOptionValue {
  package init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .string(let text) = argument else { throw .invalidOption("\(name) is not a string") }
    self = text
  }
}

extension Optional: ChannelOptionValue where Wrapped: ChannelOptionValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    self = try Wrapped(argument, of: name)
  }

  var number: Int? { flatMap(\.number) }
}

extension ChannelArgument {
  fileprivate var isBelowZero: Bool {
    guard case .integer(let number) = self else { return false }
    return number < 0
  }
}

extension GRPCStatus {
  package static func invalidOption(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: reason)
  }
}
