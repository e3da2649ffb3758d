// text: the dictionary that users see, whose keys are bounded when they are read

extension Google_Protobuf_Value: ExpressibleByStringLiteral, ExpressibleByFloatLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A value of one of the six kinds.
  public init(_ kind: OneOf_Kind) {
    self.init()
    self.kind = kind
  }

  /// A string.
  public init(_ value: String) { self.init(.stringValue(value)) }
  /// A number; NaN and the infinities have no form in JSON.
  public init(_ value: Double) { self.init(.numberValue(value)) }
  /// A Boolean.
  public init(_ value: Bool) { self.init(.boolValue(value)) }
  /// An object.
  public init(_ value: Google_Protobuf_Struct) { self.init(.structValue(value)) }
  /// An array.
  public init(_ value: Google_Protobuf_ListValue) { self.init(.listValue(value)) }

  public init(stringLiteral value: String) { self.init(value) }
  public init(floatLiteral value: Double) { self.init(value) }
  public init(integerLiteral value: Int64) { self.init(Double(value)) }
  public init(booleanLiteral value: Bool) { self.init(value) }
  /// The value `null`.
  public init(nilLiteral: ()) { self.init(.nullValue(.nullValue)) }
  public init(arrayLiteral elements: Google_Protobuf_Value...) {
    self.init(Google_Protobuf_ListValue(elements))
  }
  public init(dictionaryLiteral elements: (String, Google_Protobuf_Value)...) {
    self.init(Google_Protobuf_Struct(elements))
  }
}

extension Google_Protobuf_Struct: ExpressibleByDictionaryLiteral {
  /// An object with the members of a dictionary.
  public init(_ fields: [String: Google_Protobuf_Value]) {
    self.init()
    self.fields = fields
  }

  /// An object; of two members with the same name, the last wins.
  public init(dictionaryLiteral elements: (String, Google_Protobuf_Value)...) { self.init(elements) }

  init(_ elements: [(String, Google_Protobuf_Value)]) {
    self.init(Dictionary(elements) { $1 })
  }

  /// The member with this name.
  public subscript(name: String) -> Google_Protobuf_Value? {
    get { fields[name] }
    set { fields[name] = newValue }
  }
}

extension Google_Protobuf_ListValue: ExpressibleByArrayLiteral {
  /// An array of values.
  public init(_ values: [Google_Protobuf_Value]) {
    self.init()
    self.values = values
  }

  public init(arrayLiteral elements: Google_Protobuf_Value...) { self.init(elements) }

  /// The element at a position, which must exist.
  public subscript(index: Int) -> Google_Protobuf_Value {
    get { values[index] }
    set { values[index] = newValue }
  }
}
