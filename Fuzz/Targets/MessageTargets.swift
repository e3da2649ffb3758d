import SwitchboardProtobuf
import TestMessages

/// Messages in each of their three formats: a message that was read can be written, and reads back as the same message.
enum MessageTargets {
  static func wire(_ input: [UInt8]) throws {
    try wire(Switchboard_Testing_AllKinds3.self, input)
    try wire(Switchboard_Testing_AllKinds2.self, input)
    try wire(Switchboard_Testing_AllKindsEditions.self, input)
  }

  private static func wire<M: Message>(_ type: M.Type, _ input: [UInt8]) throws {
    guard let message = try? M(serializedBytes: input, partial: true) else { return }
    // Compared after one round trip: as in libprotobuf, a packed number that a closed enum does not define keeps its
    // full width in the unknown fields, and loses it when it is read from there.
    let written = try bytes(of: M(serializedBytes: bytes(of: message), partial: true))
    let again = try bytes(of: M(serializedBytes: written, partial: true))
    try BrokenPromise.unless(again == written, "\(type) is written differently after a round trip")
    // Not every message has a JSON form, and the text form of unknown fields cannot be read back.
    _ = try? message.jsonUTF8Bytes(partial: true)
    _ = message.textFormatString()
  }

  /// Equal for equal messages.
  private static func bytes(of message: some Message) throws -> [UInt8] {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return try message.serializedBytes(partial: true, options: options)
  }

  static func json(_ input: [UInt8]) throws {
    try json(Switchboard_Testing_AllKinds3.self, input)
    try json(Switchboard_Testing_AllKinds2.self, input)
  }

  private static func json<M: Message>(_ type: M.Type, _ input: [UInt8]) throws {
    guard let message = try? M(jsonUTF8Bytes: input, partial: true) else { return }
    _ = try message.serializedBytes(partial: true)
    guard let written = try? message.jsonUTF8Bytes(partial: true) else { return }
    let again = try M(jsonUTF8Bytes: written, partial: true)
    try BrokenPromise.unless(
      try bytes(of: again) == bytes(of: message),
      "\(type) is a different message after a round trip through JSON"
    )
  }

  static func text(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    try self.text(Switchboard_Testing_AllKinds3.self, text)
    try self.text(Switchboard_Testing_AllKinds2.self, text)
  }

  private static func text<M: Message>(_ type: M.Type, _ text: String) throws {
    guard let message = try? M(textFormatString: text, partial: true) else { return }
    _ = try message.serializedBytes(partial: true)
    let written = message.textFormatString()
    let again = try M(textFormatString: written, partial: true).textFormatString()
    try BrokenPromise.unless(
      again == written,
      "\(type) is written differently after a round trip through text"
    )
  }
}
