extension Google_Protobuf_Any {
  /// Packs a message.
  ///
  /// The type's URL is `typePrefix`, a slash and the full name of the type. Where `partial`, `required` fields may
  /// be missing.
  public init(
    message: some Message,
    typePrefix: String = "type.googleapis.com",
    partial: Bool = false
  ) throws(EncodeError) {
    self.init()
    typeURL = Google_Protobuf_Any.typeURL(for: type(of: message), prefix: typePrefix)
    // Equal messages give equal bytes, since an `Any` can be compared by nothing else.
    var options = BinaryEncodingOptions()
    options.deterministic = true
    value = try message.serializedBytes(partial: partial, options: options)
  }

  private static func typeURL<M: Message>(for type: M.Type, prefix: String) -> String {
    "\(prefix)\(prefix.hasSuffix("/") ? "" : "/")\(M.protoMessageName)"
  }

  /// The full name of the type of the message within: what follows the last slash. Nil where there is no slash.
  public var typeName: String? {
    typeURL.lastIndex(of: "/").map { String(typeURL[typeURL.index(after: $0)...]) }
  }

  /// Whether the message within is of a type; only the type's URL is looked at.
  public func isA<M: Message>(_ type: M.Type) -> Bool { typeName == M.protoMessageName }

  /// The message within. Fails where it is of another type.
  public func unpack<M: Message>(
    as type: M.Type = M.self,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) -> M {
    guard isA(type) else {
      let held = typeURL.isEmpty ? "nothing" : "\"\(typeURL)\""
      throw DecodeError(.malformed("expected \(M.protoMessageName) in the Any, found \(held)"))
    }
    return try M(serializedBytes: value, extensions: extensions, partial: partial, options: options)
  }
}
