import SwitchboardDescriptors

/// The comments of a file, by declaration. Descriptors from `.proto` files contain them, those from servers seldom do.
struct Comments {
  struct Pair {
    /// The comment before the declaration, without comment marks.
    let leading: String
    /// The comment after it, on the same line or the next.
    let trailing: String
  }

  private var pairs: [[Int32]: Pair] = [:]

  init(_ file: Google_Protobuf_FileDescriptorProto) {
    for location in file.sourceCodeInfo.location
    where location.hasLeadingComments || location.hasTrailingComments {
      pairs[location.path] = Pair(leading: location.leadingComments, trailing: location.trailingComments)
    }
  }

  /// The comments of the declaration at a path.
  subscript(path: [Int32]) -> Pair? { pairs[path] }
}
