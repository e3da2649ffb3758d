/// What to write in place of something: a line of the table.
struct Rule: Sendable {
  /// What must be true of a match, besides its tokens.
  enum Condition: Sendable, Hashable {
    /// The hole is named like headers: `headers`, `context.trailers`, `initialMetadata`.
    case isHeaders(String)
    /// The path's last name is one of an error: `error`, `rpcError`.
    case isError(String)
    /// The hole is a name, or several with dots between them.
    case isName(String)
    /// The hole is an integer literal, which may be multiplied by what a template has.
    case isInteger(String)
    /// The hole is a dictionary literal whose values are string literals.
    case isStrings(String)
    /// The match begins its line, so that several statements can take its place.
    case beginsLine
    /// Each declaration of the word in this file gives it this.
    case isDeclared(String, as: Origin)
    /// The match is in a type's body, where nothing catches what an initial value throws.
    case inType
    /// The match is not in the braces of a `var`, which can throw nothing as a rule.
    case notInProperty
    /// The match is in the list of what a type inherits.
    case inherited
    case notInherited
    /// The hole is nothing but a string between quotes, and one of these if there are any.
    case isLiteral(String, [String] = [])
    /// Nothing of NIO is used in the file but what Switchboard has as well.
    case noNIO
    /// The file imports this module.
    case imports(String)
    /// The file imports a module of grpc-swift 2: the name means something else with Switchboard.
    case importsSecond
    /// The hole is a name that a generator makes.
    case isGenerated(String)
    /// The same brackets have this token.
    case besides(String)
    /// The match is not among the arguments of one of these.
    case notArgument(of: [String])
    /// The match is in an interceptor of grpc-swift 2.
    case inInterceptor
    /// The path is the parameter of a closure that writes the requests of a client, or the responses of a handler.
    case writes(Direction, String)
  }

  /// Whose messages a closure writes.
  enum Direction: Sendable, Hashable {
    case requests, responses
  }

  /// Which files a rule is about.
  enum Place: Sendable, Hashable {
    /// Sources that use grpc-swift 1, or 2.
    case one, two
    case manifest
  }

  let pattern: Pattern?
  let place: Place
  /// What takes the place of the match if that is certain.
  let template: Template?
  /// What a person has to do, or why.
  let advice: String
  let conditions: [Condition]
  /// Whether the match goes: an element of a list with its comma, a statement with its line.
  let removesElement: Bool
  /// Whether it says the same at each place, so that a file has it once.
  let saysOnce: Bool

  private init(
    _ place: Place,
    _ pattern: String,
    _ template: String?,
    _ advice: String,
    _ conditions: [Condition],
    removesElement: Bool = false,
    saysOnce: Bool = false
  ) {
    self.place = place
    self.pattern = Pattern(pattern)
    self.template = template.map { Template($0) }
    self.advice = advice
    self.conditions = conditions
    self.removesElement = removesElement
    self.saysOnce = saysOnce
  }

  /// A change that is certain.
  static func change(
    _ pattern: String,
    to template: String,
    in place: Place = .one,
    if conditions: Condition...,
    because reason: String = ""
  ) -> Rule {
    Rule(place, pattern, template, reason, conditions)
  }

  /// An element of a list, or a statement, that goes.
  static func remove(
    _ pattern: String,
    in place: Place = .one,
    if conditions: Condition...,
    because reason: String
  ) -> Rule {
    Rule(place, pattern, "", reason, conditions, removesElement: true)
  }

  /// Something for a person to decide.
  static func advise(
    _ pattern: String,
    in place: Place = .one,
    once: Bool = false,
    _ advice: String,
    if conditions: Condition...
  ) -> Rule {
    Rule(place, pattern, nil, advice, conditions, saysOnce: once)
  }
}
