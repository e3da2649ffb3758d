import SwitchboardDescriptors

/// The comments of a file, by what they are about. A server seldom has them; `.proto` files do.
struct Comments {
  struct Pair {
    /// Before the declaration, without the comment marks.
    let leading: String
    /// After it, on the same line or the next.
    let trailing: String
  }

  private var pairs: [[Int32]: Pair] = [:]

  init(_ file: Google_Protobuf_FileDescriptorProto) {
    for location in file.sourceCodeInfo.location
    where location.hasLeadingComments || location.hasTrailingComments {
      pairs[location.path] = Pair(leading: location.leadingComments, trailing: location.trailingComments)
    }
  }

  /// The comments of what is at a path.
  subscript(path: [Int32]) -> Pair? { pairs[path] }
}
