import SwitchboardProtobuf
import SwitchboardText

/// The condition of a rule: the named fields of the request have these values. Other fields may have any.
struct RequestPattern: Hashable, Sendable {
  private indirect enum Expected: Hashable, Sendable {
    case value(DynamicValue?)
    case message(RequestPattern)
  }

  private struct Field: Hashable, Sendable {
    let name: String
    let expected: Expected
  }

  private var fields: [Field] = []

  /// Whether it names no field, so that all requests match.
  var isEmpty: Bool { fields.isEmpty }

  /// Throws if the type has no such fields, or the values are not valid for them.
  init(_ document: DocumentValue, _ type: MessageTable, _ options: JSONDecodingOptions) throws(RuleError) {
    guard case .map(let members) = document else {
      throw RuleError("match is \(document.kind), not a map of fields of \(type.fullName)")
    }
    let message: DynamicMessage
    do throws(DecodeError) {
      message = try DynamicMessage(type, jsonString: document.json, partial: true, options: options)
    } catch {
      throw RuleError("match: \(error.withoutLocation)")
    }
    for member in members {
      guard
        let field = type.field(named: member.name) ?? type.fields.first(where: { $0.jsonName == member.name })
      else { throw RuleError("match: \(type.fullName) has no field '\(member.name)'") }
      var expected = Expected.value(message[field.name])
      // A nested message is matched field by field, except for well-known types, which have a special JSON form.
      if !field.isRepeated, case .map = member.value, let inner = type.message(of: field),
        !inner.fullName.begins(with: "google.protobuf.")
      {
        expected = .message(try RequestPattern(member.value, inner, options))
      }
      fields.append(Field(name: field.name, expected: expected))
    }
  }

  /// What must hold of a request, each on its own.
  struct Condition: Hashable, Sendable {
    let path: [String]
    /// The value of the field at the path; `nil` if it only has to be there.
    let value: DynamicValue??
  }

  /// All that must hold of a request that matches.
  var conditions: Set<Condition> {
    var found: Set<Condition> = []
    collectConditions(at: [], in: &found)
    return found
  }

  private func collectConditions(at path: [String], in found: inout Set<Condition>) {
    for field in fields {
      let path = path + [field.name]
      switch field.expected {
      case .value(let value): found.insert(Condition(path: path, value: .some(value)))
      case .message(let pattern):
        found.insert(Condition(path: path, value: nil))
        pattern.collectConditions(at: path, in: &found)
      }
    }
  }

  /// A field and its value in all requests that match; `nil` if no field is compared as a whole.
  var key: Key? {
    for field in fields {
      if case .value(let value) = field.expected { return Key(name: field.name, value: value) }
    }
    return nil
  }

  struct Key: Hashable {
    let name: String
    let value: DynamicValue?
  }

  func matches(_ message: DynamicMessage) -> Bool {
    fields.allSatisfy { field in
      switch field.expected {
      case .value(let value): return message[field.name] == value
      case .message(let pattern):
        guard case .message(let inner)? = message[field.name] else { return false }
        return pattern.matches(inner)
      }
    }
  }
}
