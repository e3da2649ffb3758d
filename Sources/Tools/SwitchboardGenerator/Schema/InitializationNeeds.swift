/// Decides in which messages required fields can be missing.
enum InitializationNeeds {
  /// Marks messages with required fields or extensions, and all messages that can contain one.
  static func decide(for schema: inout Schema) {
    var holders: [[Int]] = Array(repeating: [], count: schema.messages.count)
    for (index, message) in schema.messages.enumerated() {
      for field in message.fields { if let inner = field.message { holders[inner].append(index) } }
    }
    var result = schema.messages.map { message in
      message.isExtensible || message.fields.contains { if case .required = $0.shape { true } else { false } }
    }
    var pending = result.indices.filter { result[$0] }
    while let index = pending.popLast() {
      for holder in holders[index] where !result[holder] {
        result[holder] = true
        pending.append(holder)
      }
    }
    for index in schema.messages.indices { schema.messages[index].canBeUninitialized = result[index] }
  }
}
