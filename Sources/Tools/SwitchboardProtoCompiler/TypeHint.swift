/// What was meant by a type that is not defined: a scalar by the name that it has elsewhere, or a well-known type that is not
/// imported.
enum TypeHint {
  /// An error of libprotoc, with the hint after it if there is one.
  static func explaining(_ error: String) -> String {
    guard error.hasSuffix("\" is not defined."), let name = error.split(separator: "\"").dropLast().last,
      let hint = hint(String(name))
    else { return error }
    return "\(error) \(hint)"
  }

  private static func hint(_ name: String) -> String? {
    if let scalar = scalars.first(where: { $0.names.contains(name) }) { return "Write \(scalar.meant)." }
    let package = "google.protobuf."
    let known = wellKnown.first { file in
      file.names.contains { $0 == name || package + $0 == name || file.others.contains(name) }
    }
    guard let known else { return nil }
    let file = "import \"google/protobuf/\(known.file).proto\";"
    if name.hasPrefix(package) { return "Write \(file)" }
    let type = known.names.contains(name) ? name : known.names[0]
    return "Write \(package)\(type), and \(file)"
  }

  private static let scalars: [(meant: String, names: Set<String>)] = [
    (
      "int32, int64, uint32 or uint64",
      [
        "int", "Int", "integer", "Integer", "long", "Long", "short", "number", "uint", "Int32", "Int64",
        "UInt32",
        "UInt64", "int8", "int16", "uint8", "uint16",
      ]
    ), ("string", ["String", "str", "text"]), ("bool", ["Bool", "boolean", "Boolean"]),
    ("double or float", ["Double", "Float", "float32", "float64", "decimal"]),
    ("bytes", ["Bytes", "byte", "Data", "blob"]),
  ]

  private static let wellKnown: [(file: String, names: [String], others: Set<String>)] = [
    ("timestamp", ["Timestamp"], ["timestamp", "Date", "date", "datetime", "DateTime"]),
    ("duration", ["Duration"], ["duration"]), ("empty", ["Empty"], ["void", "Void"]),
    ("any", ["Any"], ["any"]),
    ("struct", ["Struct", "Value", "ListValue", "NullValue"], []), ("field_mask", ["FieldMask"], []),
    (
      "wrappers",
      [
        "StringValue", "BoolValue", "BytesValue", "Int32Value", "Int64Value", "UInt32Value", "UInt64Value",
        "DoubleValue", "FloatValue",
      ],
      []
    ),
  ]
}
