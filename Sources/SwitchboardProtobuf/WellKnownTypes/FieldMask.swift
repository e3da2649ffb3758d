extension Google_Protobuf_FieldMask {
  /// A mask of paths as the `.proto` file spells them: `user.display_name`.
  public init(protoPaths paths: [String]) {
    self.init()
    self.paths = paths
  }

  /// A mask of paths as the `.proto` file spells them: `user.display_name`.
  public init(protoPaths paths: String...) { self.init(protoPaths: paths) }

  /// A mask of paths as JSON spells them: `user.displayName`. Nil where one holds anything but letters, digits and
  /// points.
  public init?(jsonPaths paths: [String]) {
    self.init()
    for path in paths {
      guard let path = FieldMaskPath.snakeCase(path[...]) else { return nil }
      self.paths.append(path)
    }
  }

  /// A mask of all fields of a message, not of what is within these.
  public init<M: Message>(allFieldsOf type: M.Type) { self.init(protoPaths: M.fieldNames.names) }

  /// Whether a path names a field of `type`, or one within. Only the last part may name a repeated field or a map.
  public static func isPathValid<M: Message>(_ path: String, for type: M.Type) -> Bool {
    var probe = FieldProbe(type)
    let parts = path.split(separator: ".", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      guard probe.enter(String(part)) else { return false }
      if index < parts.count - 1, probe.type == nil { return false }
    }
    return true
  }

  /// Whether every path names a field of `type`, or one within.
  public func isValid<M: Message>(for type: M.Type) -> Bool {
    paths.allSatisfy { Google_Protobuf_FieldMask.isPathValid($0, for: type) }
  }

  // What follows knows no message, and so cannot tell whether a field exists. A path that can name none, because it is empty
  // or has an empty part, covers nothing: it is left out of every result.

  /// Whether the mask covers a path: by the path itself, or by one that leads there.
  public func contains(_ path: String) -> Bool {
    FieldMaskPath.isWellFormed(path)
      && paths.contains { FieldMaskPath.isWellFormed($0) && FieldMaskPath.covers($0, path) }
  }

  /// The same fields in alphabetical order, without paths that others cover.
  public var canonical: Google_Protobuf_FieldMask { mask(FieldMaskPaths(self)) }

  /// The fields that either mask covers, in canonical form.
  public func union(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).union(FieldMaskPaths(other)))
  }

  /// The fields that both masks cover, in canonical form.
  public func intersection(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).intersection(FieldMaskPaths(other)))
  }

  /// The fields that this mask covers and `other` does not. Where `other` covers a part of a path, that path stays whole:
  /// what else is within it no mask can tell. The result is in canonical form.
  public func subtracting(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).subtracting(FieldMaskPaths(other)))
  }

  private func mask(_ paths: FieldMaskPaths) -> Google_Protobuf_FieldMask {
    Google_Protobuf_FieldMask(protoPaths: paths.paths)
  }
}
