/// Options of channels that `CallOptions` has by their names.
package protocol ChannelOptionSet: Sendable {
  /// The defaults.
  init()
  /// What is to be said of options beside their names, types and defaults.
  static var rules: [OptionRule<Self>] { get }
}

/// The channel argument that sets an option, and the numbers that the option may be.
package struct OptionRule<Options: ChannelOptionSet>: Sendable {
  let argument: String?
  let take: @Sendable (ChannelArgument, inout ChosenOptions<Options>) throws(GRPCStatus) -> Void
  let check: @Sendable (Options) throws(GRPCStatus) -> Void

  /// An argument below zero sets the option to `unlimited`, if that is given. The name and the reason are for errors.
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

/// A value that an argument can set an option to.
protocol ChannelOptionValue: Hashable, Sendable {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus)
  /// What the option's range limits.
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
