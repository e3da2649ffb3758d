import SwitchboardText

/// The extensions that are set in one message, in the order of their numbers.
public struct ExtensionFields: Sendable {
  private var entries: [any ExtensionEntry] = []

  /// No extensions.
  public init() {}

  /// Whether no extension is set.
  public var isEmpty: Bool { entries.isEmpty }

  /// The value of an extension, or nil if it is not set.
  public subscript<Extended, Codec>(field: MessageExtension<Extended, Codec>) -> Codec.Value? {
    get {
      let index = position(of: field.number)
      guard index < entries.count, let entry = entries[index] as? SetExtension<Codec> else { return nil }
      return entry.number == field.number ? entry.value : nil
    }
    set {
      let index = position(of: field.number)
      let isPresent = index < entries.count && entries[index].number == field.number
      switch (newValue, isPresent) {
      case (let value?, true):
        entries[index] = SetExtension<Codec>(number: field.number, fullName: field.fullName, value: value)
      case (let value?, false):
        let entry = SetExtension<Codec>(number: field.number, fullName: field.fullName, value: value)
        entries.insert(entry, at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Adds a message as an extension whose number is greater than all others.
  mutating func append(_ value: MessageStorage, number: Int32, fullName: String) {
    entries.append(StorageExtension(number: number, fullName: fullName, value: value))
  }

  /// Calls `body` to change the value of an extension in place. Nothing else references the value during the call, so
  /// it can grow without being copied.
  mutating func update<Extended, Codec, E: Error>(
    _ field: MessageExtension<Extended, Codec>,
    _ body: (inout Codec.Value?) throws(E) -> Void
  ) throws(E) {
    let index = position(of: field.number)
    let isPresent = index < entries.count && entries[index].number == field.number
    var value: Codec.Value?
    if isPresent {
      value = (entries[index] as? SetExtension<Codec>)?.value
      entries[index] = VacantExtension(number: field.number)
    }
    defer {
      if let value {
        let entry = SetExtension<Codec>(number: field.number, fullName: field.fullName, value: value)
        if isPresent { entries[index] = entry } else { entries.insert(entry, at: index) }
      } else if isPresent {
        entries.remove(at: index)
      }
    }
    try body(&value)
  }

  /// Whether the `required` fields of all messages in the extensions are set.
  public var isInitialized: Bool { nameOfUninitialized == nil }

  /// The name of an extension with a message whose `required` fields are not all set; `nil` if there is none.
  var nameOfUninitialized: String? { entries.first { !$0.isInitialized }?.fullName }

  /// Calls `body` with each extension that is set, in the order of the numbers or in the other direction.
  func forEach(
    in range: Range<Int32>? = nil,
    reversed: Bool = false,
    _ body: (any ExtensionEntry) throws(EncodeError) -> Void
  ) throws(EncodeError) {
    let first = range.map { position(of: $0.lowerBound) } ?? 0
    let end = range.map { position(of: $0.upperBound) } ?? entries.count
    for index in first..<end { try body(entries[reversed ? first + end - 1 - index : index]) }
  }

  /// Calls `body` with each extension, the last first. All must be single messages, the only kind that a MessageSet
  /// contains.
  func forEachMessage(
    _ body: (Int32, MessageStorage) throws(EncodeError) -> Void
  ) throws(EncodeError) {
    for entry in entries.reversed() {
      guard let message = entry.message else {
        throw EncodeError(
          .unrepresentable("\(entry.fullName) is not a message, so a MessageSet cannot hold it")
        )
      }
      try body(entry.number, message)
    }
  }

  /// The index of the extension with `number`, or the index at which to insert it.
  private func position(of number: Int32) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ExtensionFields: Hashable {
  public static func == (left: ExtensionFields, right: ExtensionFields) -> Bool {
    left.entries.count == right.entries.count
      && zip(left.entries, right.entries).allSatisfy { $0.isEqual(to: $1) }
  }

  public func hash(into hasher: inout Hasher) {
    for entry in entries { entry.hash(into: &hasher) }
  }
}

/// One set extension, whatever its type.
protocol ExtensionEntry: Hashable, Sendable {
  var number: Int32 { get }
  var fullName: String { get }
  var isInitialized: Bool { get }
  /// The value, if it is a single message.
  var message: MessageStorage? { get }
  /// The value, to be shown in a mirror.
  var shown: Any { get }
  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError)
}

extension ExtensionEntry {
  func isEqual(to other: any ExtensionEntry) -> Bool { self == other as? Self }
}

/// One set extension with its value.
private struct SetExtension<Codec: ExtensionCodec>: ExtensionEntry {
  let number: Int32
  let fullName: String
  let value: Codec.Value

  static func == (left: SetExtension, right: SetExtension) -> Bool {
    left.number == right.number && areSame(left.value, right.value)
  }

  func hash(into hasher: inout Hasher) {
    var fields = FieldHasher(hasher: hasher)
    fields.combine(number)
    fields.combine(value)
    hasher = fields.hasher
  }

  var isInitialized: Bool { Codec.isInitialized(value) }
  var message: MessageStorage? { (value as? any Message)?._storage }
  var shown: Any { value }

  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError) {
    try Codec.traverse(value, number: number, with: &visitor)
  }
}

/// A placeholder for an extension while its value is changed.
private struct VacantExtension: ExtensionEntry {
  let number: Int32
  var fullName: String { "" }
  var isInitialized: Bool { true }
  var message: MessageStorage? { nil }
  var shown: Any { () }

  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError) {}
}

/// A message in a MessageSet whose type was described at run time.
private struct StorageExtension: ExtensionEntry {
  let number: Int32
  let fullName: String
  let value: MessageStorage

  var isInitialized: Bool { value.isInitialized }
  var message: MessageStorage? { value }
  var shown: Any { ShownMessage(storage: value) }

  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError) {
    try visitor.message(value, number: number)
  }
}
