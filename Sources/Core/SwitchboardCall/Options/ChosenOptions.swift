/// A set of channel options that `CallOptions` offers by name.
package protocol ChannelOptionSet: Sendable {
  init()
}

/// The options that were chosen, with their values. Two sets of choices are equal if they have the same effect:
/// choosing a default makes no difference.
package struct ChosenOptions<Options: ChannelOptionSet>: Hashable, Sendable {
  private struct Choice: Hashable, Sendable {
    let option: PartialKeyPath<Options> & Sendable
    let value: any Hashable & Sendable
    let isDefault: Bool
    let apply: @Sendable (inout Options) -> Void

    init<Value: Hashable & Sendable>(
      _ option: WritableKeyPath<Options, Value> & Sendable,
      _ value: Value
    ) {
      self.option = option
      self.value = value
      isDefault = Options()[keyPath: option] == value
      apply = { $0[keyPath: option] = value }
    }

    static func == (left: Choice, right: Choice) -> Bool {
      left.option == right.option && AnyHashable(left.value) == AnyHashable(right.value)
    }

    func hash(into hasher: inout Hasher) {
      option.hash(into: &hasher)
      value.hash(into: &hasher)
    }
  }

  private var choices: [Choice] = []

  package init() {}

  /// The value of an option; `nil` if it is not chosen.
  @_disfavoredOverload
  package subscript<Value: Hashable & Sendable>(
    option: WritableKeyPath<Options, Value> & Sendable
  ) -> Value? {
    get {
      // Not by optional chaining: if `Value` is optional, casting `nil` to it succeeds.
      guard let choice = choice(option) else { return nil }
      return choice.value as? Value
    }
    set { set(option, newValue.map { Choice(option, $0) }) }
  }

  /// The same for an option that is `nil` by default.
  package subscript<Value: Hashable & Sendable>(
    option: WritableKeyPath<Options, Value?> & Sendable
  ) -> Value? {
    get { choice(option)?.value as? Value }
    set { set(option, newValue.map { Choice(option, Optional($0)) }) }
  }

  private func choice(_ option: PartialKeyPath<Options>) -> Choice? {
    choices.first { $0.option == option }
  }

  private mutating func set(_ option: PartialKeyPath<Options>, _ choice: Choice?) {
    choices.removeAll { $0.option == option }
    if let choice { choices.append(choice) }
  }

  /// The names of the options that were chosen, whatever their values, in the order in which they were, without `others`.
  func names(except others: [PartialKeyPath<Options> & Sendable] = []) -> [String] {
    choices.filter { choice in !others.contains { $0 == choice.option } }.map { Self.name(of: $0.option) }
  }

  /// The compiler describes a stored property as `\ChannelOptions.security`. Nobody promises that, so this is only for
  /// people to read.
  private static func name(of option: PartialKeyPath<Options>) -> String {
    String(String(describing: option).drop { $0 != "." }.dropFirst())
  }

  /// These choices, completed by those of `defaults` for other options.
  func overriding(_ defaults: Self) -> Self {
    var merged = self
    merged.choices += defaults.choices.filter { choice($0.option) == nil }
    return merged
  }

  package var options: Options {
    var options = Options()
    for choice in choices { choice.apply(&options) }
    return options
  }

  package static func == (left: Self, right: Self) -> Bool { left.signature == right.signature }

  package func hash(into hasher: inout Hasher) { signature.hash(into: &hasher) }

  private var signature: Set<Choice> { Set(choices.lazy.filter { !$0.isDefault }) }
}

/// The choices for a channel, behind a reference so that the options of one client compare in one step.
final class ChannelChoices: Sendable {
  let channel: ChosenOptions<ChannelOptions>
  let pool: ChosenOptions<PoolOptions>

  init(_ channel: ChosenOptions<ChannelOptions>, _ pool: ChosenOptions<PoolOptions>) {
    self.channel = channel
    self.pool = pool
  }

  func overriding(_ defaults: ChannelChoices) -> ChannelChoices {
    if self === defaults { return self }
    return ChannelChoices(channel.overriding(defaults.channel), pool.overriding(defaults.pool))
  }
}
