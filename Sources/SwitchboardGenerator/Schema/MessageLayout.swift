/// Decides which messages store their fields on the heap, and in which required fields can be missing.
///
/// A message that contains itself, through singular fields or oneofs, must be on the heap to have a finite size;
/// copying a large one costs more than an allocation.
struct MessageLayout {
  private let messages: [MessageSchema]
  /// The messages that each message stores inline; those in arrays and dictionaries are not.
  private let held: [[Int]]
  private var sizes: [Int]
  private var isBoxed: [Bool]

  /// The maximum size of a message that is stored inline, in bytes.
  private static let inlineLimit = 128

  /// Decides for all messages in `schema`.
  static func decide(for schema: inout Schema) {
    var layout = MessageLayout(schema)
    layout.measure(schema)
    let uninitialized = layout.messagesThatCanBeUninitialized()
    for index in schema.messages.indices {
      schema.messages[index].isBoxed = layout.isBoxed[index]
      schema.messages[index].canBeUninitialized = uninitialized[index]
    }
  }

  private init(_ schema: Schema) {
    messages = schema.messages
    held = messages.map { message in
      message.fields.compactMap { field in
        switch field.shape {
        case .explicit, .required, .oneof, .implicit: field.message
        case .repeated, .map: nil
        }
      }
    }
    sizes = Array(repeating: 0, count: messages.count)
    isBoxed = Array(repeating: false, count: messages.count)
  }

  /// Computes sizes from the innermost messages outwards; all messages in a cycle are boxed.
  private mutating func measure(_ schema: Schema) {
    for circle in StrongComponents.find(in: held) {
      let isRecursive = circle.count > 1 || circle.contains { held[$0].contains($0) }
      for index in circle {
        if isRecursive {
          isBoxed[index] = true
          sizes[index] = 8
        }
      }
      for index in circle where !isRecursive {
        let size = inlineSize(of: messages[index], schema)
        isBoxed[index] = size > MessageLayout.inlineLimit
        sizes[index] = isBoxed[index] ? 8 : size
      }
    }
  }

  private func inlineSize(of message: MessageSchema, _ schema: Schema) -> Int {
    var size = 8  // the unknown fields
    if message.isExtensible { size += 8 }
    for field in message.fields where field.oneof == nil { add(valueSize(of: field, schema), to: &size) }
    for oneof in message.oneofs where !oneof.members.isEmpty {
      let largest = oneof.members.map { valueSize(of: message.fields[$0], schema) }.max() ?? 0
      add(largest + 1, to: &size)
    }
    return size
  }

  /// Values of at least 8 bytes are aligned to 8, values of at least 4 to 4, smaller ones to 1.
  private func add(_ bytes: Int, to size: inout Int) {
    let alignment = bytes >= 8 ? 8 : bytes >= 4 ? 4 : 1
    size = (size + alignment - 1) / alignment * alignment + bytes
  }

  private func valueSize(of field: FieldSchema, _ schema: Schema) -> Int {
    switch field.shape {
    case .repeated, .map: return 8
    case .implicit, .explicit, .required, .oneof: break
    }
    switch field.type {
    case .scalar(let scalar):
      return scalar.size + (field.isStoredAsOptional && !scalar.hasSpareValues ? 1 : 0)
    case .enumeration(let index):
      return schema.enums[index].isOpen ? 9 : schema.enums[index].values.count > 255 ? 2 : 1
    // Nil takes no extra byte: every message contains an array, whose reference has spare values.
    case .message(let index, _): return sizes[index]
    }
  }

  /// Marks messages with required fields or extensions, and all messages that can contain one.
  private func messagesThatCanBeUninitialized() -> [Bool] {
    var holders: [[Int]] = Array(repeating: [], count: messages.count)
    for (index, message) in messages.enumerated() {
      for field in message.fields { if let inner = field.message { holders[inner].append(index) } }
    }
    var result = messages.map { message in
      message.isExtensible || message.fields.contains { if case .required = $0.shape { true } else { false } }
    }
    var pending = result.indices.filter { result[$0] }
    while let index = pending.popLast() {
      for holder in holders[index] where !result[holder] {
        result[holder] = true
        pending.append(holder)
      }
    }
    return result
  }
}
