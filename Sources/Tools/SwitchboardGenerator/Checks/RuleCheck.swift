import SwitchboardHTTPRules

/// Finds mistakes in the rules of `google.api.http`, with the reader that servers and documents of OpenAPI have.
struct RuleCheck {
  private let schema: Schema
  /// In the order of the files.
  private(set) var mistakes: [RuleFinding] = []
  /// What is hardly meant, or is a mistake if one server has both methods.
  private(set) var doubts: [RuleFinding] = []
  /// The first rule of each place.
  private var known: [Place: (service: String, method: String, binding: HTTPBinding)] = [:]

  private struct Place: Hashable {
    let method: String?
    let shape: PathTemplate.Shape
  }

  /// Checks the rules of all methods in these files.
  init(_ files: [Int], in schema: Schema) {
    self.schema = schema
    for file in files {
      for service in schema.files[file].services {
        for method in service.methods { check(method, of: service, in: file) }
      }
    }
  }

  private mutating func check(_ method: MethodSchema, of service: ServiceSchema, in file: Int) {
    guard method.rule.method != nil else { return }
    let name = "\(service.fullName).\(method.name)"
    do throws(RuleMistake) {
      for binding in try method.rule.bindings(of: name) {
        if let doubt = RuleMistake.doubt(name, binding) { doubts.append(finding(doubt, method, file)) }
        try check(binding, of: method, name)
        try checkPath(of: binding, name, service, method, file)
      }
    } catch {
      mistakes.append(finding(error.description, method, file))
    }
  }

  private func check(
    _ binding: HTTPBinding,
    of method: MethodSchema,
    _ name: String
  ) throws(RuleMistake) {
    try binding.check(
      name,
      request: schema.messages[method.request].fullName,
      response: schema.messages[method.response].fullName,
      field: field
    )
  }

  /// Two rules with one path are a mistake if they are of one service: others may be for different servers.
  private mutating func checkPath(
    of binding: HTTPBinding,
    _ name: String,
    _ service: ServiceSchema,
    _ method: MethodSchema,
    _ file: Int
  ) throws(RuleMistake) {
    let place = Place(method: binding.method, shape: binding.template.shape)
    guard let same = known[place] else {
      known[place] = (service.fullName, name, binding)
      return
    }
    let conflict = RuleMistake.conflict((same.method, same.binding), (name, binding))
    guard same.service != service.fullName else { throw conflict }
    doubts.append(finding("\(conflict): no server can have both", method, file))
  }

  private func field(_ name: String, of message: String) -> RuleField? {
    guard case .message(let index) = schema.symbols[message] else { return nil }
    let fields = schema.messages[index].fields
    let found = fields.first {
      $0.name == name || ($0.jsonName ?? FieldBuilder.jsonName(for: $0.name)) == name
    }
    guard let field = found else { return nil }
    let isRepeated =
      switch field.shape {
      case .repeated, .map: true
      case .implicit, .explicit, .required, .oneof: false
      }
    return RuleField(
      field.name,
      isRepeated: isRepeated,
      message: field.message.map { schema.messages[$0].fullName }
    )
  }

  private func finding(_ reason: String, _ method: MethodSchema, _ file: Int) -> RuleFinding {
    let descriptor = schema.files[file].descriptor
    return RuleFinding(
      file: descriptor.name,
      place: descriptor.comments.placeOfRule(ofMethodAt: method.path),
      reason: reason
    )
  }
}
