import SwitchboardText

/// Why a field mask cannot be applied to a message.
public enum FieldMaskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A path that names no field of the message with this full name.
  case invalidPath(String, message: String)
  /// A message of a type other than that of the changed message, which is possible only for messages described at run
  /// time.
  case otherType(String)

  /// The error in words.
  public var description: String {
    switch self {
    case .invalidPath(let path, let message): "'\(path)' is not a field of \(message)"
    case .otherType(let name): "a message of another type, \(name)"
    }
  }
}

extension Google_Protobuf_FieldMask {
  /// How to merge a field that is set in both messages.
  public struct MergeOptions: Hashable, Sendable {
    /// Whether to replace repeated fields and maps instead of appending to them.
    public var replaceRepeatedFields = false

    /// The default: appends to repeated fields and maps.
    public init() {}
  }
}

extension Message {
  /// Copies the fields that a mask names from `source`.
  ///
  /// A field that is not set in `source` is cleared; a message that a path ends at is replaced as a whole. Fields that
  /// the mask does not name do not change.
  public mutating func merge(
    from source: Self,
    fieldMask: Google_Protobuf_FieldMask,
    options: Google_Protobuf_FieldMask.MergeOptions = .init()
  ) throws(FieldMaskError) {
    try _storage.merge(from: source._storage, fieldMask: fieldMask, options: options)
  }

  /// Clears the fields that a mask does not name. Unknown fields and extensions stay.
  ///
  /// - Returns: whether that changed the message. A mask that is empty, or names fields that the message does not have,
  ///   changes nothing.
  @discardableResult
  public mutating func trim(keeping fieldMask: Google_Protobuf_FieldMask) -> Bool {
    _storage.trim(keeping: fieldMask)
  }
}

extension DynamicMessage {
  /// Copies the fields that a mask names from a message of the same type, as `merge(from:fieldMask:options:)` of a
  /// generated message does. A message of another type has none of the fields.
  public mutating func merge(
    from source: DynamicMessage,
    fieldMask: Google_Protobuf_FieldMask,
    options: Google_Protobuf_FieldMask.MergeOptions = .init()
  ) throws(FieldMaskError) {
    guard source.type == type else { throw .otherType(source.type.fullName) }
    try storage.merge(from: source.storage, fieldMask: fieldMask, options: options)
  }

  /// Clears the fields that a mask does not name, as `trim(keeping:)` of a generated message does. Extensions are fields,
  /// which a mask cannot name.
  @discardableResult
  public mutating func trim(keeping fieldMask: Google_Protobuf_FieldMask) -> Bool {
    storage.trim(keeping: fieldMask)
  }
}

extension MessageStorage {
  mutating func merge(
    from source: MessageStorage,
    fieldMask: Google_Protobuf_FieldMask,
    options: Google_Protobuf_FieldMask.MergeOptions
  ) throws(FieldMaskError) {
    for path in fieldMask.paths where !table.hasPath(path) {
      throw .invalidPath(path, message: table.fullName)
    }
    let paths = FieldMaskPaths(fieldMask)
    if !paths.isEmpty { take(paths.tree, from: source, replacesRepeated: options.replaceRepeatedFields) }
  }

  mutating func trim(keeping fieldMask: Google_Protobuf_FieldMask) -> Bool {
    guard fieldMask.paths.allSatisfy(table.hasPath) else { return false }
    let paths = FieldMaskPaths(fieldMask)
    guard !paths.isEmpty else { return false }
    let before = self
    keep(paths.tree)
    return self != before
  }

  // MARK: Recursion

  // The recursion of both is as deep as the messages, however long the paths are.

  /// Copies the fields of `tree` from `source`.
  private mutating func take(_ tree: FieldMaskTree, from source: MessageStorage, replacesRepeated: Bool) {
    let table = table
    for (name, child) in tree.children {
      guard let index = table.index(ofName: name) else { continue }
      let entry = table.entries[index]
      guard child.isLeaf else {
        guard isSet(entry) || source.isSet(entry) else { continue }
        let empty = MessageStorage(table.message(of: entry))
        var message = take(entry, as: MessageStorage.self) ?? empty
        message.take(child, from: source.message(entry) ?? empty, replacesRepeated: replacesRepeated)
        put(message, in: entry)
        continue
      }
      if entry.shape == .repeated || entry.shape == .map, !replacesRepeated {
        append(entry, of: source)
      } else if source.isSet(entry) {
        copy(entry, of: source)
      } else {
        clear(entry)
      }
    }
  }

  /// Clears the fields that `tree` does not contain. Fields that a mask cannot name stay.
  private mutating func keep(_ tree: FieldMaskTree) {
    let table = table
    var kept: [Int: FieldMaskTree] = [:]
    for (name, child) in tree.children {
      if let index = table.index(ofName: name) { kept[index] = child }
    }
    for (index, entry) in table.entries.enumerated() where isSet(entry) && !entry.isExtension {
      guard let child = kept[index] else {
        clear(entry)
        continue
      }
      guard !child.isLeaf, var message = take(entry, as: MessageStorage.self) else { continue }
      message.keep(child)
      put(message, in: entry)
    }
  }

  // MARK: Fields of another message

  /// Copies a field that is set in `source`.
  private mutating func copy(_ entry: TableEntry, of source: MessageStorage) {
    switch entry.type {
    case _ where entry.shape == .repeated || entry.shape == .map:
      makeUnique()
      put(source.many(entry, as: AnyObject.self), in: entry)
    case .string: set(entry, to: source.scalar(entry, as: String.self) ?? "")
    case .bytes: set(entry, to: source.scalar(entry, as: [UInt8].self) ?? [])
    case .message, .group: if let message = source.message(entry) { set(entry, to: message) }
    case .bool: set(entry, to: source.scalar(entry, as: Bool.self) ?? false)
    case let type where type.width == 4: set(entry, to: source.scalar(entry, as: UInt32.self) ?? 0)
    default: set(entry, to: source.scalar(entry, as: UInt64.self) ?? 0)
    }
  }

  /// Appends the elements or entries of a field in `source`.
  private mutating func append(_ entry: TableEntry, of source: MessageStorage) {
    guard source.isSet(entry) else { return }
    if entry.shape == .map {
      append(entry, of: source, key: entry.keyType.mapKey(checksUTF8: true))
    } else if entry.type.isMessage {
      append(entry, of: source, elements: MessageStorage.self)
    } else {
      append(entry, of: source, scalar: table.stored(entry))
    }
  }

  private mutating func append<K: MapKeyType>(_ entry: TableEntry, of source: MessageStorage, key: K.Type) {
    if entry.type.isMessage {
      append(entry, of: source, key: key, values: MessageStorage.self)
    } else {
      append(entry, of: source, key: key, scalar: table.stored(entry))
    }
  }

  private mutating func append<S: ScalarType>(_ entry: TableEntry, of source: MessageStorage, scalar: S.Type)
  {
    append(entry, of: source, elements: S.Value.self)
  }

  private mutating func append<K: MapKeyType, V: ScalarType>(
    _ entry: TableEntry,
    of source: MessageStorage,
    key: K.Type,
    scalar: V.Type
  ) {
    append(entry, of: source, key: key, values: V.Value.self)
  }

  private mutating func append<E>(_ entry: TableEntry, of source: MessageStorage, elements: E.Type) {
    var values = take(entry, as: [E].self) ?? []
    values += source.many(entry, as: [E].self) ?? []
    put(values, in: entry)
  }

  private mutating func append<K: MapKeyType, Value>(
    _ entry: TableEntry,
    of source: MessageStorage,
    key: K.Type,
    values: Value.Type
  ) {
    var entries = take(entry, as: [K.Value: Value].self) ?? [:]
    entries.merge(source.many(entry, as: [K.Value: Value].self) ?? [:]) { $1 }
    put(entries, in: entry)
  }
}

extension TableData {
  /// Whether a path names a field of the message or of one nested in it. Only the last part may name a repeated field or
  /// a map.
  func hasPath(_ path: String) -> Bool {
    var table: TableData? = self
    for part in path.parts(separatedBy: ".") {
      guard let outer = table, let index = outer.index(ofName: String(part)) else { return false }
      let entry = outer.entries[index]
      let isMessage = entry.type.isMessage && (entry.shape == .singular || entry.shape == .oneof)
      table = isMessage ? outer.message(of: entry) : nil
    }
    return true
  }
}
