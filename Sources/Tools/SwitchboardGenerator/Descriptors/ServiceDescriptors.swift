import SwitchboardHTTPRules

/// What a `google.protobuf.ServiceDescriptorProto` says.
struct ServiceDescriptor: Sendable, EncodedMessage {
  private(set) var name = ""
  private(set) var method: [MethodDescriptor] = []
  private(set) var options = CallOptions()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: try field.append(to: &method)
    case 3: try field.merge(into: &options)
    default: break
    }
  }
}

/// What a `google.protobuf.MethodDescriptorProto` says.
struct MethodDescriptor: Sendable, EncodedMessage {
  private(set) var name = ""
  private(set) var inputType = ""
  private(set) var outputType = ""
  private(set) var options = CallOptions()
  private(set) var clientStreaming = false
  private(set) var serverStreaming = false

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: inputType = field.text ?? inputType
    case 3: outputType = field.text ?? outputType
    case 4: try field.merge(into: &options)
    case 5: clientStreaming = field.isTrue ?? clientStreaming
    case 6: serverStreaming = field.isTrue ?? serverStreaming
    default: break
    }
  }
}

/// The options of a service or a method.
struct CallOptions: Sendable, EncodedMessage {
  private(set) var deprecated = false
  /// A method's `idempotency_level`.
  private(set) var idempotencyLevel: Int32 = 0
  /// A method's `google.api.http`.
  private(set) var httpRule = HTTPRuleOption()

  /// The number of the extension `google.api.http`.
  static let httpRuleNumber: Int32 = 72_295_728

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 33: deprecated = field.isTrue ?? deprecated
    case 34: idempotencyLevel = field.int32 ?? idempotencyLevel
    case UInt64(CallOptions.httpRuleNumber): try field.merge(into: &httpRule)
    default: break
    }
  }
}

/// What a `google.api.HttpRule` says.
struct HTTPRuleOption: Sendable, EncodedMessage {
  private(set) var text = RuleText()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 2: setPattern("GET", field.text)
    case 3: setPattern("PUT", field.text)
    case 4: setPattern("POST", field.text)
    case 5: setPattern("DELETE", field.text)
    case 6: setPattern("PATCH", field.text)
    case 7: text.body = field.text ?? text.body
    case 8:
      var pattern = CustomHTTPPattern()
      try field.merge(into: &pattern)
      setPattern(pattern.kind, pattern.path)
    case 11:
      var others: [HTTPRuleOption] = []
      try field.append(to: &others)
      text.additional += others.map(\.text)
    case 12: text.responseBody = field.text ?? text.responseBody
    default: break
    }
  }

  private mutating func setPattern(_ method: String, _ path: String?) {
    guard let path else { return }
    text.method = method
    text.path = path
  }
}

/// What a `google.api.CustomHttpPattern` says.
private struct CustomHTTPPattern: EncodedMessage {
  private(set) var kind = ""
  private(set) var path = ""

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: kind = field.text ?? kind
    case 2: path = field.text ?? path
    default: break
    }
  }
}
