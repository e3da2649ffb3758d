/// The linked contents of a request: references to types are indices into these arrays.
struct Schema {
  enum Symbol {
    case message(Int)
    case enumeration(Int)
  }

  var files: [FileSchema] = []
  var messages: [MessageSchema] = []
  var enums: [EnumSchema] = []

  /// The types by their full names.
  var symbols: [String: Symbol] = [:]
  /// The files by their names.
  var filesByName: [String: Int] = [:]

  /// The full names of what the files declare, by what a payload mapping calls it.
  var declaredNames: [String: Set<String>] {
    let services = files.flatMap(\.services)
    return [
      "message": Set(messages.map(\.fullName)),
      "service": Set(services.map(\.fullName)),
      "method": Set(services.flatMap { service in service.methods.map { "\(service.fullName).\($0.name)" } }),
    ]
  }

  /// The message with a name from a descriptor; `user` names the referrer in errors.
  func message(named name: String, for user: String) throws(GeneratorError) -> Int {
    guard case .message(let index) = try symbol(named: name, for: user) else {
      throw GeneratorError("\(user): '\(name)' is not a message")
    }
    return index
  }

  /// The enum with a name from a descriptor; `user` names the referrer in errors.
  func enumeration(named name: String, for user: String) throws(GeneratorError) -> Int {
    guard case .enumeration(let index) = try symbol(named: name, for: user) else {
      throw GeneratorError("\(user): '\(name)' is not an enum")
    }
    return index
  }

  private func symbol(named name: String, for user: String) throws(GeneratorError) -> Symbol {
    guard let symbol = symbols[name.hasPrefix(".") ? String(name.dropFirst()) : name] else {
      throw GeneratorError("\(user): the type '\(name)' is not in the request")
    }
    return symbol
  }
}
