import SwitchboardHTTPRules

/// A path in OpenAPI's notation. OpenAPI parameters cannot contain slashes, so a variable of several segments becomes
/// one parameter per wildcard, with a name that client generators can use as an identifier: `{name=shelves/*/books/*}`
/// becomes `shelves/{shelvesId}/books/{booksId}`.
struct DocumentPath {
  struct Parameter {
    var name: String
    /// The field that the parameter sets, in full or in part; empty for a wildcard outside of variables.
    let fieldPath: [String]
    /// Whether the parameter is the whole value of the field.
    let isWhole: Bool
  }

  private(set) var parameters: [Parameter] = []
  /// The path with `{}` for each parameter.
  private(set) var structure = ""

  init(_ template: PathTemplate) {
    var names: Set<String> = []
    for (index, segment) in template.segments.enumerated() {
      if case .literal(let text) = segment {
        structure += "/" + text
        continue
      }
      structure += "/{}"
      let variable = template.variables.first { $0.segments.contains(index) }
      let isWhole = variable?.segments.count == 1
      var name = variable?.fieldPath.joined(separator: "_") ?? "part"
      if !isWhole, index > 0, case .literal(let before) = template.segments[index - 1] {
        name = before + "Id"
      }
      var unique = name
      var number = 2
      while !names.insert(unique).inserted {
        unique = name + String(number)
        number += 1
      }
      parameters.append(Parameter(name: unique, fieldPath: variable?.fieldPath ?? [], isWhole: isWhole))
    }
    if let verb = template.verb { structure += ":" + verb }
  }

  /// Uses the names of another path of the same structure.
  mutating func takeNames(of other: DocumentPath) {
    for index in parameters.indices where index < other.parameters.count {
      parameters[index].name = other.parameters[index].name
    }
  }

  /// The path with the names of the parameters.
  var text: String {
    var text = ""
    var rest = parameters[...]
    for part in structure.split(separator: "{}", omittingEmptySubsequences: false) {
      text += part
      if let parameter = rest.popFirst() { text += "{\(parameter.name)}" }
    }
    return text
  }
}
