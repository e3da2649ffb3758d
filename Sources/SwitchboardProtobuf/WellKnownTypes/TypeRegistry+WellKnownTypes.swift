extension TypeRegistry {
  /// The types that need no registration, by their full names.
  static let wellKnown: [String: any Message.Type] = {
    let types: [any Message.Type] = [
      Google_Protobuf_Any.self, Google_Protobuf_Duration.self, Google_Protobuf_Empty.self,
      Google_Protobuf_FieldMask.self, Google_Protobuf_Timestamp.self,
      Google_Protobuf_Struct.self, Google_Protobuf_Value.self, Google_Protobuf_ListValue.self,
      Google_Protobuf_DoubleValue.self, Google_Protobuf_FloatValue.self,
      Google_Protobuf_Int64Value.self, Google_Protobuf_UInt64Value.self,
      Google_Protobuf_Int32Value.self, Google_Protobuf_UInt32Value.self,
      Google_Protobuf_BoolValue.self, Google_Protobuf_StringValue.self, Google_Protobuf_BytesValue.self,
    ]
    return Dictionary(types.map { ($0.protoMessageName, $0) }) { $1 }
  }()
}
