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

  mutating func merge(_ field: EncodedField) {
    switch field.number {
    case 33: deprecated = field.isTrue ?? deprecated
    case 34: idempotencyLevel = field.int32 ?? idempotencyLevel
    default: break
    }
  }
}
