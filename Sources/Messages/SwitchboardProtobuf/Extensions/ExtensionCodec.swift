/// Reads and writes the value of an extension, with the methods of ``FieldDecoder`` and ``FieldVisitor`` that a field
/// of that kind uses.
public protocol ExtensionCodec: Sendable {
  /// The Swift type of the extension.
  associatedtype Value: Hashable, Sendable

  /// Reads a value of the extension and merges it in.
  static func decode<Decoder: FieldDecoder>(
    _ value: inout Value?,
    from decoder: inout Decoder
  ) throws(DecodeError)

  /// Passes the value to a visitor.
  static func traverse<Visitor: FieldVisitor>(
    _ value: Value,
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError)

  /// Whether the `required` fields of all messages in the value are set.
  static func isInitialized(_ value: Value) -> Bool
}

extension ExtensionCodec {
  /// True, because only messages have required fields.
  public static func isInitialized(_ value: Value) -> Bool { true }
}

/// An extension that is one scalar or enum.
public enum ScalarExtension<S: ScalarType>: ExtensionCodec {
  public typealias Value = S.Value

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout S.Value?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try decoder.optional(&value, as: S.self)
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: S.Value,
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.explicit(value, as: S.self, number: number)
  }
}

/// An extension that is a repeated scalar or enum.
public enum RepeatedExtension<S: ScalarType>: ExtensionCodec {
  public typealias Value = [S.Value]

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout [S.Value]?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try decoder.repeated(&value[or: []], as: S.self)
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: [S.Value],
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.repeated(value, as: S.self, number: number)
  }
}

/// An extension that is a repeated scalar or enum, packed in binary.
public enum PackedExtension<S: ScalarType>: ExtensionCodec {
  public typealias Value = [S.Value]

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout [S.Value]?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try decoder.repeated(&value[or: []], as: S.self)
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: [S.Value],
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.packed(value, as: S.self, number: number)
  }
}

/// An extension that is one message.
public enum SubmessageExtension<M: Message>: ExtensionCodec {
  public typealias Value = M

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout M?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try withStorages(in: &value, as: MessageStorage?.self) { value throws(DecodeError) in
      try decoder.message(&value, of: M._table)
    }
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: M,
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.message(value._storage, number: number)
  }

  public static func isInitialized(_ value: M) -> Bool { value.isInitialized }
}

/// The codec of extensions that a MessageSet can hold.
protocol MessageSetCodec {}

extension SubmessageExtension: MessageSetCodec {}

/// An extension that is a repeated message.
public enum RepeatedSubmessageExtension<M: Message>: ExtensionCodec {
  public typealias Value = [M]

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout [M]?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try withStorages(in: &value, as: [MessageStorage]?.self) { value throws(DecodeError) in
      try decoder.messages(&value[or: []], of: M._table)
    }
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: [M],
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.messages(value.map(\._storage), number: number)
  }

  public static func isInitialized(_ value: [M]) -> Bool { value.allSatisfy(\.isInitialized) }
}

/// An extension that is one group.
public enum GroupExtension<M: Message>: ExtensionCodec {
  public typealias Value = M

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout M?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try withStorages(in: &value, as: MessageStorage?.self) { value throws(DecodeError) in
      try decoder.group(&value, of: M._table)
    }
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: M,
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.group(value._storage, number: number)
  }

  public static func isInitialized(_ value: M) -> Bool { value.isInitialized }
}

/// An extension that is a repeated group.
public enum RepeatedGroupExtension<M: Message>: ExtensionCodec {
  public typealias Value = [M]

  public static func decode<Decoder: FieldDecoder>(
    _ value: inout [M]?,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    try withStorages(in: &value, as: [MessageStorage]?.self) { value throws(DecodeError) in
      try decoder.groups(&value[or: []], of: M._table)
    }
  }

  public static func traverse<Visitor: FieldVisitor>(
    _ value: [M],
    number: Int32,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitor.groups(value.map(\._storage), number: number)
  }

  public static func isInitialized(_ value: [M]) -> Bool { value.allSatisfy(\.isInitialized) }
}
