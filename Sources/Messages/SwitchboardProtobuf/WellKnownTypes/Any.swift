import SwitchboardText

extension Google_Protobuf_Any {
  /// Packs a message.
  ///
  /// The type URL is `typePrefix`, a slash and the full name of the type. If `partial`, `required` fields may be
  /// missing.
  public init(
    message: some Message,
    typePrefix: String = "type.googleapis.com",
    partial: Bool = false
  ) throws(EncodeError) {
    self.init()
    typeURL = Google_Protobuf_Any.typeURL(for: type(of: message), prefix: typePrefix)
    // Deterministic, because two `Any`s are compared by their bytes.
    var options = BinaryEncodingOptions()
    options.deterministic = true
    value = try message.serializedBytes(partial: partial, options: options)
  }

  private static func typeURL<M: Message>(for type: M.Type, prefix: String) -> String {
    "\(prefix)\(prefix.ends(with: "/") ? "" : "/")\(M.protoMessageName)"
  }

  /// The full name of the message's type: the text after the last slash. Nil if there is no slash.
  public var typeName: String? { typeURL.part(afterLast: "/").map { String($0) } }

  /// Whether the message is of a type, judging only by the type URL.
  public func isA<M: Message>(_ type: M.Type) -> Bool { typeName?.isExactly(M.protoMessageName) == true }

  /// The message in the `Any`. Throws if it is of another type.
  public func unpack<M: Message>(
    as type: M.Type = M.self,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) -> M {
    guard isA(type) else {
      let held = typeURL.isEmpty ? "nothing" : "\"\(typeURL.excerpt)\""
      throw DecodeError(.malformed("expected \(M.protoMessageName) in the Any, found \(held)"))
    }
    return try M(serializedBytes: value, extensions: extensions, partial: partial, options: options)
  }
}
