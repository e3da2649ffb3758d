/// A message with extension ranges, or with the MessageSet wire format.
public protocol ExtensibleMessage: Message {}

extension ExtensibleMessage {
  /// The extensions that are set.
  public var extensionFields: ExtensionFields {
    get { _storage.extensionFields }
    _modify { yield &_storage.extensionFields }
  }

  /// The value of an extension, or nil if it is not set.
  public subscript<Codec: ExtensionCodec>(field: MessageExtension<Self, Codec>) -> Codec.Value? {
    get { extensionFields[field] }
    set { extensionFields[field] = newValue }
  }
}
