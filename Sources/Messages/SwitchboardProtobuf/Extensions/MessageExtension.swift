/// An extension field of any type, as the registry stores it.
public protocol AnyMessageExtension: Sendable {
  /// The field number.
  var number: Int32 { get }

  /// The full name of the extension, such as `google.api.http`.
  var fullName: String { get }

  /// The message that is extended.
  var extendedType: any ExtensibleMessage.Type { get }

  /// Reads a value of this extension and merges it into `fields`.
  func decode<Decoder: FieldDecoder>(
    into fields: inout ExtensionFields,
    from decoder: inout Decoder
  ) throws(DecodeError)
}

/// An extension field of `Extended`, declared with `extend` in a `.proto` file.
public struct MessageExtension<Extended: ExtensibleMessage, Codec: ExtensionCodec>: AnyMessageExtension {
  /// The field number.
  public let number: Int32

  /// The full name of the extension, such as `google.api.http`.
  public let fullName: String

  /// An extension with a number and a full name.
  public init(number: Int32, fullName: String) {
    self.number = number
    self.fullName = fullName
  }

  /// The message that is extended.
  public var extendedType: any ExtensibleMessage.Type { Extended.self }

  /// Reads a value of this extension and merges it into `fields`.
  public func decode<Decoder: FieldDecoder>(
    into fields: inout ExtensionFields,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try fields.update(self) { value throws(DecodeError) in try Codec.decode(&value, from: &decoder) }
  }
}

/// The extensions that a MessageSet can hold: single messages that are not groups.
private protocol MessageSetExtension {}

extension MessageExtension: MessageSetExtension where Codec: MessageSetCodec {}

extension TableData {
  /// An extension of the message; nil if the message cannot hold it.
  func held(_ field: any AnyMessageExtension) -> (any AnyMessageExtension)? {
    !isMessageSet || field is any MessageSetExtension ? field : nil
  }
}
