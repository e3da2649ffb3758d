/// An argument that starts with a dash: a switch, or one with a value.
struct Flag: Sendable, Hashable {
  /// The names, with dashes. The long one comes last; messages use it.
  let names: [String]
  /// The placeholder for the value in help texts, such as `FILE`; nil for a switch.
  let value: String?
  /// What it does, as a sentence.
  let text: String
  /// Whether it may be given more than once.
  let repeats: Bool
  let completion: Completion

  init(
    _ names: String...,
    value: String? = nil,
    repeats: Bool = false,
    completion: Completion = .none,
    help text: String
  ) {
    self.names = names
    self.value = value
    self.text = text
    self.repeats = repeats
    self.completion = completion
  }

  /// The name that messages use.
  var name: String { names.last ?? "" }
  /// The name as users type it most.
  var shortName: String { names.first ?? "" }

  /// The flag in help texts: `-H, --header NAME:VALUE`.
  var shown: String { names.joined(separator: ", ") + (value.map { " \($0)" } ?? "") }

  /// The flag that every verb has.
  static let help = Flag("-h", "--help", help: "Show this help.")
}

/// Flags that belong together, under a heading.
struct FlagGroup: Sendable, Hashable {
  let title: String
  let flags: [Flag]

  init(_ title: String, _ flags: [Flag]) {
    self.title = title
    self.flags = flags
  }
}

/// A positional argument of a verb.
struct Operand: Sendable, Hashable {
  /// A word in capitals.
  let name: String
  /// What it is, as a sentence.
  let text: String
  let isOptional: Bool
  let repeats: Bool
  let completion: Completion

  init(
    _ name: String,
    isOptional: Bool = false,
    repeats: Bool = false,
    completion: Completion = .none,
    _ text: String
  ) {
    self.name = name
    self.text = text
    self.isOptional = isOptional
    self.repeats = repeats
    self.completion = completion
  }
}

/// The completions that a shell offers for a value or an operand.
enum Completion: Sendable, Hashable {
  case none
  case file
  case directory
  case words([String])
  /// Services of the server that an earlier operand names.
  case services
  /// Methods of that server.
  case methods
  /// Services, methods, messages and enums of that server.
  case symbols
}
