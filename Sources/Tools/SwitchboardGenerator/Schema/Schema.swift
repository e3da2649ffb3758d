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
    Self.names(of: files.flatMap(\.services), messages.map(\.fullName))
  }

  /// The same of the services of some files, with the messages of their methods.
  func servedNames(in names: [String]) -> [String: Set<String>] {
    let services = names.compactMap { filesByName[$0] }.flatMap { files[$0].services }
    let served = services.flatMap(\.methods).flatMap { [$0.request, $0.response] }
    return Self.names(of: services, served.map { messages[$0].fullName })
  }

  private static func names(of services: [ServiceSchema], _ messages: [String]) -> [String: Set<String>] {
    [
      "message": Set(messages),
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
