/// Why a field mask cannot be applied to a message.
public enum FieldMaskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A path that names no field of the message.
  case invalidPath(String)

  /// The error in words.
  public var description: String {
    switch self {
    case .invalidPath(let path): "'\(path)' is not a field of the message"
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
    mergeOption: Google_Protobuf_FieldMask.MergeOptions = .init()
  ) throws(FieldMaskError) {
    for path in fieldMask.paths where !Google_Protobuf_FieldMask.isPathValid(path, for: Self.self) {
      throw FieldMaskError.invalidPath(path)
    }
    let paths = FieldMaskPaths(fieldMask)
    guard !paths.isEmpty else { return }
    take(paths.tree, from: source, replacesRepeated: mergeOption.replaceRepeatedFields)
  }

  /// Clears the fields that a mask does not name. Unknown fields and extensions stay.
  ///
  /// - Returns: whether that changed the message. A mask that is empty, or names fields that the message does not have,
  ///   changes nothing.
  @discardableResult
  public mutating func trim(keeping fieldMask: Google_Protobuf_FieldMask) -> Bool {
    guard fieldMask.isValid(for: Self.self) else { return false }
    let paths = FieldMaskPaths(fieldMask)
    guard !paths.isEmpty else { return false }
    let before = self
    self = kept(by: paths.tree)
    return self != before
  }

  // MARK: Recursion

  // The recursion of both is as deep as the messages, however long the paths are.

  /// Copies the fields of `tree` from `source`.
  private mutating func take(_ tree: FieldMaskTree, from source: Self, replacesRepeated: Bool) {
    let theirs = source.collectFields().values
    let ours = collectFields()
    // A new message, because there is no other way to clear a field of any kind.
    var result = Self(unknownFieldsOf: self, extensions: ours.extensions)
    var subtrees: [Int32: FieldMaskTree] = [:]
    for (name, child) in tree.children {
      if let number = Self.fieldNames.number(ofName: name) { subtrees[number] = child }
    }
    for (number, value) in ours.values {
      let isAddedTo = ours.collections.contains(number) && !replacesRepeated
      if subtrees[number] == nil || isAddedTo { result.give(value, to: number) }
    }
    for (number, child) in subtrees {
      let (our, their) = (ours.values[number], theirs[number])
      if child.isLeaf {
        if let their { result.give(their, to: number) }
      } else if let some = (our ?? their) as? any Message {
        result.give(taken(child, like: some, our, their, replacesRepeated: replacesRepeated), to: number)
      }
    }
    self = result
  }

  private func taken<M: Message>(
    _ tree: FieldMaskTree,
    like: M,
    _ our: Any?,
    _ their: Any?,
    replacesRepeated: Bool
  ) -> M {
    var message = our as? M ?? M()
    message.take(tree, from: their as? M ?? M(), replacesRepeated: replacesRepeated)
    return message
  }

  /// The fields of `tree`, and everything that a mask cannot name.
  private func kept(by tree: FieldMaskTree) -> Self {
    let fields = collectFields()
    var result = Self(unknownFieldsOf: self, extensions: fields.extensions)
    for (name, child) in tree.children {
      guard let number = Self.fieldNames.number(ofName: name), let value = fields.values[number] else {
        continue
      }
      if child.isLeaf {
        result.give(value, to: number)
      } else if let message = value as? any Message {
        result.give(message.keptErased(by: child), to: number)
      }
    }
    return result
  }

  private func keptErased(by tree: FieldMaskTree) -> Any { kept(by: tree) }

  private init(unknownFieldsOf other: Self, extensions: (number: Int32, fields: ExtensionFields)?) {
    self.init()
    unknownFields = other.unknownFields
    if let extensions { give(extensions.fields, to: extensions.number) }
  }
}
