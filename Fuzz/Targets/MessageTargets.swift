import SwitchboardProtobuf
import TestMessages

/// Messages in each of their three forms: what can be read can be written, and reads as the same again.
enum MessageTargets {
  static func wire(_ input: [UInt8]) throws {
    try wire(Switchboard_Testing_AllKinds3.self, input)
    try wire(Switchboard_Testing_AllKinds2.self, input)
    try wire(Switchboard_Testing_AllKindsEditions.self, input)
  }

  private static func wire<M: Message>(_ type: M.Type, _ input: [UInt8]) throws {
    guard let message = try? M(serializedBytes: input, partial: true) else { return }
    // Only what was written and read once must stay: as in libprotobuf, a packed number that is no value of a closed
    // enum keeps its full width among the unknown fields, and loses it when it is read from there.
    let written = try bytes(of: M(serializedBytes: bytes(of: message), partial: true))
    let again = try bytes(of: M(serializedBytes: written, partial: true))
    try BrokenPromise.unless(again == written, "\(type) is written differently once it was read again")
    // Not every message has a JSON form, and in text unknown fields cannot be read again.
    _ = try? message.jsonUTF8Bytes(partial: true)
    _ = message.textFormatString()
  }

  /// The same for equal messages.
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
      "\(type) is another message once it was through JSON"
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
    try BrokenPromise.unless(again == written, "\(type) is written differently once its text was read again")
  }
}
