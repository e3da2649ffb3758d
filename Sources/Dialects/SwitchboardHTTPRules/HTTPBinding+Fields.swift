import SwitchboardText

/// What a rule has to know of a field that it names.
package struct RuleField: Hashable, Sendable {
  /// Its name in the `.proto`.
  package let name: String
  /// Whether it is a list or a map.
  package let isRepeated: Bool
  /// The full name of its message type, if it has one.
  package let message: String?

  package init(_ name: String, isRepeated: Bool, message: String?) {
    self.name = name
    self.isRepeated = isRepeated
    self.message = message
  }
}

extension HTTPBinding {
  /// Checks the fields that variables and bodies name.
  ///
  /// - Parameters:
  ///   - method: The method's full name.
  ///   - request: The full name of its request.
  ///   - response: The full name of its response.
  ///   - field: Finds a field of a message by its name in the `.proto` or in JSON.
  /// - Throws: an error if the messages do not have a field, or if a variable cannot set it.
  package func check(
    _ method: String,
    request: String,
    response: String,
    field: (_ name: String, _ message: String) -> RuleField?
  ) throws(RuleMistake) {
    for variable in template.variables {
      if let reason = refusal(of: variable.fieldPath, in: request, field) {
        throw RuleMistake(method, self, reason)
      }
    }
    // A body is named as in the `.proto`.
    if case .field(let name) = body, field(name, request)?.name != name {
      throw RuleMistake(method, self, "\(request) has no field \(name.excerpt)")
    }
    if let name = responseBody, field(name, response)?.name != name {
      throw RuleMistake(method, self, "\(response) has no field \(name.excerpt)")
    }
  }

  /// Why a variable of a path does not set what these names lead to.
  private func refusal(
    of names: [String],
    in request: String,
    _ field: (_ name: String, _ message: String) -> RuleField?
  ) -> String? {
    var last = RuleField("", isRepeated: false, message: request)
    for (index, name) in names.enumerated() {
      guard let message = last.message, !last.isRepeated else {
        return "\(names[..<index].joined(separator: ".")) is not a message that has a field \(name)"
      }
      guard index == 0 || HTTPBinding.isObject(message) else {
        return
          "\(names[..<index].joined(separator: ".")) is a \(message), of which a variable of a path sets no part"
      }
      guard let next = field(name, message) else { return "\(message) has no field \(name)" }
      last = next
    }
    let shown = names.joined(separator: ".")
    if last.isRepeated { return "\(shown) is a list or a map, which a variable of a path cannot set" }
    guard let message = last.message, !HTTPBinding.isText(message) else { return nil }
    return "\(shown) is a message, which a variable of a path cannot set"
  }

  /// Whether a message's JSON form is a string, a number or a word, or may be.
  package static func isText(_ message: String) -> Bool { texts.contains(ExactText(message)) }

  /// Whether a message's JSON form is an object with its fields, so that a path or a query may set them one by one.
  package static func isObject(_ message: String) -> Bool {
    let name = ExactText(message)
    return !texts.contains(name) && !values.contains(name)
  }

  private static let values = Set(["Any", "Struct", "ListValue"].map { ExactText("google.protobuf.\($0)") })

  private static let texts = Set(
    [
      "Timestamp", "Duration", "FieldMask", "Value", "BoolValue", "StringValue", "BytesValue", "FloatValue",
      "DoubleValue",
      "Int32Value", "UInt32Value", "Int64Value", "UInt64Value",
    ].map { ExactText("google.protobuf.\($0)") }
  )
}
