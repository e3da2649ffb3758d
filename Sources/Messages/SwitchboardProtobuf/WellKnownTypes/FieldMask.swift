extension Google_Protobuf_FieldMask {
  /// A mask of paths with the field names of the `.proto` file: `user.display_name`.
  public init(protoPaths paths: [String]) {
    self.init()
    self.paths = paths
  }

  /// A mask of paths with the field names of the `.proto` file: `user.display_name`.
  public init(protoPaths paths: String...) { self.init(protoPaths: paths) }

  /// A mask of paths with JSON names: `user.displayName`. Nil if a path contains anything but letters, digits and dots.
  public init?(jsonPaths paths: [String]) {
    self.init()
    for path in paths {
      guard let path = FieldMaskPath.snakeCase(path[...]) else { return nil }
      self.paths.append(path)
    }
  }

  /// A mask of all fields of a message, without paths to nested fields.
  public init<M: Message>(allFieldsOf type: M.Type) { self.init(protoPaths: M._table.names.names) }

  /// Whether a path names a field of `type` or of a message nested in it. Only the last part may name a repeated field
  /// or a map.
  public static func isPathValid<M: Message>(_ path: String, for type: M.Type) -> Bool {
    M._table.hasPath(path)
  }

  /// Whether every path names a field of `type` or of a message nested in it.
  public func isValid<M: Message>(for type: M.Type) -> Bool {
    paths.allSatisfy { Google_Protobuf_FieldMask.isPathValid($0, for: type) }
  }

  // The members below do not know the message, so they cannot check that a field exists. An invalid path (empty, or
  // with an empty part) covers nothing and is omitted from every result.

  /// Whether the mask contains a path, or a prefix of it that ends at a dot.
  public func contains(_ path: String) -> Bool {
    FieldMaskPath.isWellFormed(path)
      && paths.contains { FieldMaskPath.isWellFormed($0) && FieldMaskPath.covers($0, path) }
  }

  /// The same fields in alphabetical order, without paths that other paths cover.
  public var canonical: Google_Protobuf_FieldMask { mask(FieldMaskPaths(self)) }

  /// The fields that either mask covers, in canonical form.
  public func union(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).union(FieldMaskPaths(other)))
  }

  /// The fields that both masks cover, in canonical form.
  public func intersection(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).intersection(FieldMaskPaths(other)))
  }

  /// The fields that this mask covers and `other` does not. If `other` covers only a part of a path, that path stays
  /// whole, because a mask cannot express the rest. The result is in canonical form.
  public func subtracting(_ other: Google_Protobuf_FieldMask) -> Google_Protobuf_FieldMask {
    mask(FieldMaskPaths(self).subtracting(FieldMaskPaths(other)))
  }

  private func mask(_ paths: FieldMaskPaths) -> Google_Protobuf_FieldMask {
    Google_Protobuf_FieldMask(protoPaths: paths.paths)
  }
}
