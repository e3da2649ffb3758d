import SwitchboardDescriptors
import SwitchboardProtobuf

/// Descriptors, and messages of the types that they describe. The input starts with the size of a `FileDescriptorSet` in
/// two bytes; a message in binary follows the set.
enum DescriptorsTarget {
  private static let mostTypes = 8

  static func run(_ input: [UInt8]) throws {
    guard input.count >= 2 else { return }
    let size = min(Int(input[0]) << 8 | Int(input[1]), input.count - 2)
    let (descriptors, bytes) = (Array(input[2..<(2 + size)]), Array(input[(2 + size)...]))
    guard let set = try? Google_Protobuf_FileDescriptorSet(serializedBytes: descriptors, partial: true),
      let pool = try? DescriptorPool(set)
    else { return }
    for type in pool.messageTypes.prefix(mostTypes) {
      guard let message = try? DynamicMessage(type, serializedBytes: bytes, partial: true) else { continue }
      try binary(message)
      try fields(of: message)
      // Not every message has a JSON form, and the text form of unknown fields cannot be read back.
      _ = try? message.jsonUTF8Bytes(partial: true)
      _ = message.textFormatString()
    }
  }

  /// Compared after one round trip, as the messages of the target `wire` are.
  private static func binary(_ message: DynamicMessage) throws {
    let written = try bytes(of: copy(of: message))
    let again = try bytes(of: DynamicMessage(message.type, serializedBytes: written, partial: true))
    try BrokenPromise.unless(
      again == written,
      "\(message.type.fullName) is written differently after a round trip"
    )
  }

  private static func copy(of message: DynamicMessage) throws -> DynamicMessage {
    try DynamicMessage(message.type, serializedBytes: bytes(of: message), partial: true)
  }

  private static func bytes(of message: DynamicMessage) throws -> [UInt8] {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return try message.serializedBytes(partial: true, options: options)
  }

  /// Fields that are set to the values that they have, one by one, make the same message.
  private static func fields(of message: DynamicMessage) throws {
    var other = DynamicMessage(message.type)
    other.unknownFields = message.unknownFields
    for field in message.type.fields where message.has(field.name) {
      guard let value = message[field.number] else {
        throw BrokenPromise(description: "\(field.name) is set and has no value")
      }
      try other.set(field.name, to: value)
    }
    try BrokenPromise.unless(
      try bytes(of: other) == bytes(of: message),
      "\(message.type.fullName) differs when its fields are set one by one"
    )
    for field in message.type.fields { try other.clear(field.name) }
    try BrokenPromise.unless(
      try bytes(of: other) == message.unknownFields.bytes,
      "\(message.type.fullName) has fields after all were cleared"
    )
  }
}
