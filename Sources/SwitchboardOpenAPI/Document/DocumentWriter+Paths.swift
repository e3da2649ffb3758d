import SwitchboardDescriptors

/// Paths and their operations.
extension DocumentWriter {
  /// The HTTP methods that OpenAPI knows; others are left out.
  private static let methods: Set<String> = [
    "GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE",
  ]

  /// All paths, in the order of the methods. Rules whose paths differ only in parameter names share one path.
  mutating func paths() throws(HTTPRuleError) -> JSONTree {
    var order: [String] = []
    var known: [String: DocumentPath] = [:]
    var items: [String: [JSONTree.Member]] = [:]
    for method in api.methods {
      for (index, binding) in method.bindings.enumerated() {
        guard let verb = binding.method, Self.methods.contains(verb) else { continue }
        var path = DocumentPath(binding.template)
        if let first = known[path.structure] {
          path.takeNames(of: first)
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
    let comment = comments[method.file].text(method.path)
    let lines = comment?.text.split(separator: "\n", maxSplits: 1).map(String.init) ?? []
    let service = method.service.split(separator: ".").last.map(String.init) ?? method.service
    let name = "\(service)_\(method.descriptor.name)" + (index > 0 ? "_\(index + 1)" : "")
    let parameters = pathParameters(path, method) + queryParameters(method, binding)
    let operation: JSONTree = ["operationId": .string(name), "tags": [.string(method.service)]]
    return operation.adding([
      "summary": lines.first.map { .string($0) },
      "description": lines.count > 1 ? .string(comment?.text ?? "") : nil,
      "deprecated": method.descriptor.options.deprecated ? true : nil,
      "parameters": parameters.isEmpty ? nil : .array(parameters),
      "requestBody": requestBody(method, binding),
      "responses": ["200": try response(method, binding), "default": errorResponse()],
    ])
  }

  // MARK: Parameters

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
  private mutating func queryParameters(_ method: DescribedAPI.Method, _ binding: HTTPBinding) -> [JSONTree] {
    guard binding.body != .whole else { return [] }
    var skipped = Set(binding.template.variables.map { $0.fieldPath })
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

  /// Whether a message's JSON form is a string, a number or a word, so that it can be a query parameter.
  private static func isText(_ name: String) -> Bool {
    switch name {
    case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask": true
    default:
      name.hasPrefix("google.protobuf.") && name.hasSuffix("Value") && !name.hasSuffix(".ListValue")
        && !name.hasSuffix(".Value")
    }
  }

  /// Finds a field by its path of names.
  private func field(_ names: [String], of message: String) -> (
    descriptor: Google_Protobuf_FieldDescriptorProto, file: Int, path: [Int32]
  )? {
    var message = DeclaredTypes.name(message)
    for (index, name) in names.enumerated() {
      guard let type = types.messages[message],
        let number = type.descriptor.field.firstIndex(where: { $0.name == name })
      else { return nil }
      let field = type.descriptor.field[number]
      if index == names.count - 1 { return (field, type.file, type.path + [2, Int32(number)]) }
      message = DeclaredTypes.name(field.typeName)
    }
    return nil
  }

  // MARK: Bodies

  private mutating func requestBody(_ method: DescribedAPI.Method, _ binding: HTTPBinding) -> JSONTree? {
    let input = DeclaredTypes.name(method.descriptor.inputType)
    let schema: JSONTree
    switch binding.body {
    case .none: return nil
    case .whole:
      if input == "google.api.HttpBody" { return ["content": Self.bytes] }
      schema = Self.wellKnown(input) ?? reference(input)
    case .field(let name):
      guard let field = field([name], of: input)?.descriptor else { return nil }
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
      guard let field = field([name], of: output)?.descriptor else {
        throw HTTPRuleError("\(method.fullName): \(output) has no field \(name)")
      }
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

  /// A body of any media type, in the form that client generators recognise.
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
