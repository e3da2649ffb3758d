extension MessageStorage {
  /// The fields that are set, by their names, and after them the extensions and the unknown fields. Enums are names.
  func mirror<Subject>(of subject: Subject) -> Mirror {
    Mirror(subject, children: mirrorChildren, displayStyle: .struct)
  }

  private var mirrorChildren: [Mirror.Child] {
    let table = table
    var children: [Mirror.Child] = []
    for (index, entry) in table.entries.enumerated() {
      guard let value = value(index) else { continue }
      let name = table.names.name(of: entry.number)
      children.append((name, value.shown(table.enumeration(of: entry))))
    }
    // The body throws nothing.
    try? extensionFields.forEach(in: nil) { children.append(("[\($0.fullName)]", $0.shown)) }
    if hasUnknownFields { children.append(("unknownFields", unknownFields)) }
    return children
  }
}

/// A message in a field. Its generated type may not be known to the table.
struct ShownMessage: CustomReflectable, CustomStringConvertible {
  let storage: MessageStorage

  var customMirror: Mirror { storage.mirror(of: self) }
  var description: String { storage.table.fullName }
}

extension DynamicValue {
  /// The value without its case. For an enum, the name of the number.
  fileprivate func shown(_ names: EnumTable?) -> Any {
    switch self {
    case .int32(let value): value
    case .int64(let value): value
    case .uint32(let value): value
    case .uint64(let value): value
    case .float(let value): value
    case .double(let value): value
    case .bool(let value): value
    case .enumeration(let number): names?.name(of: number) ?? number
    case .string(let value): value
    case .bytes(let value): value
    case .message(let message): ShownMessage(storage: message.storage)
    case .list(let values): values.map { $0.shown(names) }
    case .map(let entries):
      Dictionary(uniqueKeysWithValues: entries.map { (AnyHashable($0.shownKey), $1.shown(names)) })
    }
  }

  /// The key of a map without its case.
  private var shownKey: any Hashable {
    switch self {
    case .int32(let value): value
    case .int64(let value): value
    case .uint32(let value): value
    case .uint64(let value): value
    case .bool(let value): value
    case .string(let value): value
    default: self
    }
  }
}
