import SwitchboardDescriptors
import SwitchboardHTTPRules
import SwitchboardText

/// Paths and their operations.
extension DocumentWriter {
  /// The HTTP methods that OpenAPI knows; others are left out.
  private static let methods: Set<String> = [
    "GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE",
  ]

  /// All paths, in the order of the methods. Rules whose paths differ only in parameter names share one path. A `*` and
  /// a `**` are the same in OpenAPI, so of rules that differ only in them, the first is described.
  mutating func paths() throws(HTTPRuleError) -> JSONTree {
    var order: [String] = []
    var known: [String: DocumentPath] = [:]
    var items: [String: [JSONTree.Member]] = [:]
    var first: [String: (name: String, binding: HTTPBinding)] = [:]
    for method in api.methods {
      if let format = method.connectFormat {
        order.append(method.grpcPath)
        items[method.grpcPath] = [.init(name: "post", value: connectOperation(method, format))]
      }
      // Rules make messages of protobuf.
      guard method.formats == nil else { continue }
      for (index, binding) in method.bindings.enumerated() {
        guard let verb = binding.method, Self.methods.contains(verb) else { continue }
        var path = DocumentPath(binding.template)
        let key = "\(verb) \(path.structure)"
        if let other = first[key] {
          guard other.binding.template.shape != binding.template.shape else {
            throw .conflict(other, (method.fullName, binding))
          }
          continue
        }
        first[key] = (method.fullName, binding)
        if let named = known[path.structure] {
          path.takeNames(of: named)
        } else {
          known[path.structure] = path
          order.append(path.structure)
        }
        let operation = try operation(method, binding, index, path)
        items[path.structure, default: []].append(.init(name: verb.lowercased(), value: operation))
      }
    }
    return .object(order.map { .init(name: known[$0]?.text ?? $0, value: .object(items[$0] ?? [])) })
  }

  private mutating func operation(
    _ method: DescribedAPI.Method,
    _ binding: HTTPBinding,
    _ index: Int,
    _ path: DocumentPath
  ) throws(HTTPRuleError) -> JSONTree {
    try check(method, binding)
    let bound = boundFields(method, binding)
    let parameters = pathParameters(path, method) + queryParameters(method, binding, bound)
    return commonParts(method, index).adding([
      "parameters": parameters.isEmpty ? nil : .array(parameters),
      "requestBody": try requestBody(method, binding),
      "responses": ["200": try response(method, binding), "default": errorResponse()],
    ])
  }

  /// What operations of all kinds have.
  mutating func commonParts(_ method: DescribedAPI.Method, _ index: Int) -> JSONTree {
    let comment = comments[method.file].text(method.path)
    let lines = comment?.text.split(separator: "\n", maxSplits: 1).map(String.init) ?? []
    let operation: JSONTree = [
      "operationId": .string(operationID(method, index)), "tags": [.string(method.service)],
    ]
    return operation.adding([
      "summary": lines.first.map { .string($0) },
      "description": lines.count > 1 ? .string(comment?.text ?? "") : nil,
      "deprecated": method.descriptor.options.deprecated ? true : nil,
    ])
  }

  // MARK: Parameters

  private func check(_ method: DescribedAPI.Method, _ binding: HTTPBinding) throws(HTTPRuleError) {
    do throws(RuleMistake) {
      try binding.check(
        method.fullName,
        request: DeclaredTypes.name(method.descriptor.inputType),
        response: DeclaredTypes.name(method.descriptor.outputType)
      ) { name, message in
        guard let field = types.messages[message]?.descriptor.field.first(where: { $0.isCalled(name) }) else {
          return nil
        }
        let isMessage = field.type == .message || field.type == .group
        return RuleField(
          field.name,
          isRepeated: field.label == .repeated,
          message: isMessage ? DeclaredTypes.name(field.typeName) : nil
        )
      }
    } catch {
      throw HTTPRuleError(error)
    }
  }

  /// The fields that the variables of the path set, by their names.
  private func boundFields(_ method: DescribedAPI.Method, _ binding: HTTPBinding) -> Set<[String]> {
    Set(
      binding.template.variables.compactMap {
        field($0.fieldPath, of: method.descriptor.inputType)?.names
      }
    )
  }

  private mutating func pathParameters(_ path: DocumentPath, _ method: DescribedAPI.Method) -> [JSONTree] {
    path.parameters.map { parameter in
      var schema: JSONTree = ["type": "string"]
      var comment: FileComments.Comment?
      if let field = field(parameter.fieldPath, of: method.descriptor.inputType) {
        // A parameter for a part of a variable's value is a string, whatever the field's type.
        if parameter.isWhole { schema = schemaOfOne(field.descriptor).withoutNull }
        comment = comments[field.file].text(field.path)
      }
      let tree: JSONTree = ["name": .string(parameter.name), "in": "path", "required": true]
      return tree.adding([
        "description": comment.flatMap { $0.text.isEmpty ? nil : .string($0.text) }, "schema": schema,
      ])
    }
  }

  /// The query parameters: one for each field that neither the path nor the body sets.
  private mutating func queryParameters(
    _ method: DescribedAPI.Method,
    _ binding: HTTPBinding,
    _ bound: Set<[String]>
  ) -> [JSONTree] {
    guard binding.body != .whole else { return [] }
    var skipped = bound
    if case .field(let name) = binding.body { skipped.insert([name]) }
    var parameters: [JSONTree] = []
    var messagesLeft = Self.mostMessages
    let input = DeclaredTypes.name(method.descriptor.inputType)
    addParameters(of: input, [], [], skipped, &parameters, &messagesLeft)
    return parameters
  }

  /// The most parameters of an operation. Nested messages could otherwise produce more than anyone reads.
  private static let mostParameters = 200
  /// How many messages are searched for parameters, and how deep. Messages that refer to each other can be reached in
  /// any number of ways without yielding a parameter.
  private static let mostMessages = 1000
  private static let mostLevels = 32

  /// `names` are the fields' names in the `.proto`, `path` those in JSON. A message that contains itself is entered
  /// once.
  private mutating func addParameters(
    of message: String,
    _ names: [String],
    _ outer: [String],
    _ skipped: Set<[String]>,
    _ parameters: inout [JSONTree],
    _ messagesLeft: inout Int
  ) {
    guard messagesLeft > 0, outer.count < Self.mostLevels, let type = types.messages[message],
      !outer.contains(message)
    else { return }
    messagesLeft -= 1
    for (index, field) in type.descriptor.field.enumerated() where parameters.count < Self.mostParameters {
      let path = names + [field.name]
      guard !skipped.contains(path) else { continue }
      let isMessage = field.type == .message || field.type == .group
      let name = DeclaredTypes.name(field.typeName)
      if isMessage, !Self.isText(name) {
        if field.label != .repeated, Self.wellKnown(name) == nil {
          addParameters(of: name, path, outer + [message], skipped, &parameters, &messagesLeft)
        }
        continue
      }
      let behaviors = field.options.Google_Api_fieldBehavior
      guard !behaviors.contains(.outputOnly) else { continue }
      let comment = comments[type.file].text(type.path + [2, Int32(index)])
      let shown = names.isEmpty ? jsonName(field) : (names + [field.name]).joined(separator: ".")
      let tree: JSONTree = ["name": .string(shown), "in": "query"]
      parameters.append(
        tree.adding([
          "description": comment.flatMap { $0.text.isEmpty ? nil : .string($0.text) },
          "required": behaviors.contains(.required) && names.isEmpty ? true : nil,
          "deprecated": field.options.deprecated ? true : nil,
          "schema": schema(of: field).withoutNull,
        ])
      )
    }
  }

  /// Whether a message's JSON form is a string, a number or a word, so that it can be a query parameter. A `Value` may be
  /// anything.
  private static func isText(_ name: String) -> Bool {
    HTTPBinding.isText(name) && !name.isExactly("google.protobuf.Value")
  }

  /// Finds a field by its path of names, each that of the `.proto` or that of JSON. `names` are those of the `.proto`.
  private func field(_ path: [String], of message: String) -> (
    descriptor: Google_Protobuf_FieldDescriptorProto, names: [String], file: Int, path: [Int32]
  )? {
    var message = DeclaredTypes.name(message)
    var names: [String] = []
    for name in path {
      guard let type = types.messages[message],
        let number = type.descriptor.field.firstIndex(where: { $0.isCalled(name) })
      else { return nil }
      let field = type.descriptor.field[number]
      names.append(field.name)
      if names.count == path.count { return (field, names, type.file, type.path + [2, Int32(number)]) }
      guard field.label != .repeated else { return nil }
      message = DeclaredTypes.name(field.typeName)
    }
    return nil
  }

  /// The field of a message that a body is, by its name in the `.proto`.
  private func bodyField(
    _ name: String,
    of message: String,
    _ method: DescribedAPI.Method,
    _ binding: HTTPBinding
  ) throws(HTTPRuleError) -> Google_Protobuf_FieldDescriptorProto {
    guard let field = types.messages[message]?.descriptor.field.first(where: { $0.name == name }) else {
      throw HTTPRuleError(method.fullName, binding, "\(message) has no field \(name)")
    }
    return field
  }

  // MARK: Bodies

  private mutating func requestBody(_ method: DescribedAPI.Method, _ binding: HTTPBinding)
    throws(HTTPRuleError)
    -> JSONTree?
  {
    let input = DeclaredTypes.name(method.descriptor.inputType)
    let schema: JSONTree
    switch binding.body {
    case .none: return nil
    case .whole:
      if input == "google.api.HttpBody" { return ["content": Self.bytes] }
      schema = Self.wellKnown(input) ?? reference(input)
    case .field(let name):
      let field = try bodyField(name, of: input, method, binding)
      if DeclaredTypes.name(field.typeName) == "google.api.HttpBody" { return ["content": Self.bytes] }
      schema = self.schema(of: field)
    }
    let whole: JSONTree = method.descriptor.clientStreaming ? ["type": "array", "items": schema] : schema
    return ["required": true, "content": ["application/json": ["schema": whole]]]
  }

  private mutating func response(_ method: DescribedAPI.Method, _ binding: HTTPBinding) throws(HTTPRuleError)
    -> JSONTree
  {
    let output = DeclaredTypes.name(method.descriptor.outputType)
    var schema: JSONTree
    var isRaw = output == "google.api.HttpBody"
    if let name = binding.responseBody {
      let field = try bodyField(name, of: output, method, binding)
      schema = self.schema(of: field)
      isRaw = DeclaredTypes.name(field.typeName) == "google.api.HttpBody"
    } else {
      schema = Self.wellKnown(output) ?? reference(output)
    }
    if isRaw { return ["description": "Success.", "content": Self.bytes] }
    let media: JSONTree = ["schema": schema]
    guard method.descriptor.serverStreaming else {
      return ["description": "Success.", "content": ["application/json": media]]
    }
    return [
      "description": "One message per line or event.",
      "content": ["application/x-ndjson": media, "text/event-stream": media],
    ]
  }

  private mutating func errorResponse() -> JSONTree {
    ["description": "An error.", "content": ["application/json": ["schema": reference(Self.errorName)]]]
  }

  /// A body of any media type, in the form that client generators recognize.
  private static var bytes: JSONTree {
    ["application/octet-stream": ["schema": ["type": "string", "format": "binary"]]]
  }

  static let errorName = "google.rpc.Status"

  /// The schema of errors. It does not depend on the files.
  static var error: JSONTree {
    [
      "type": "object", "description": "An error: a gRPC status code and a message.",
      "properties": [
        "code": ["type": "integer", "format": "int32"], "message": ["type": "string"],
        "details": [
          "type": "array",
          "items": [
            "type": "object", "properties": ["@type": ["type": "string"]], "additionalProperties": true,
          ],
        ],
      ],
    ]
  }
}

extension Google_Protobuf_FieldDescriptorProto {
  /// Whether this is its name in the `.proto` or in JSON.
  fileprivate func isCalled(_ name: String) -> Bool { self.name == name || jsonName == name }
}

extension JSONTree {
  /// The schema without `null`, which a parameter cannot express.
  fileprivate var withoutNull: JSONTree {
    guard case .object(let members) = self else { return self }
    return .object(
      members.map { member in
        guard member.name == "type", case .array(let types) = member.value else { return member }
        return Member(name: "type", value: types.first { $0 != .string("null") } ?? member.value)
      }
    )
  }
}
