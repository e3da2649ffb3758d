/// A message with extension ranges, or with the MessageSet wire format.
public protocol ExtensibleMessage: Message {
  /// The extensions that are set.
  var extensionFields: ExtensionFields { get set }
}

extension ExtensibleMessage {
  /// The value of an extension, or nil if it is not set.
  public subscript<Codec: ExtensionCodec>(field: MessageExtension<Self, Codec>) -> Codec.Value? {
    get { extensionFields[field] }
    set { extensionFields[field] = newValue }
  }
}
