import SwitchboardDescriptors

/// The comments of a file, by declaration. Descriptors from `.proto` files contain them, those from servers seldom do.
package struct Comments: Sendable {
  package struct Pair: Sendable {
    /// The comment before the declaration, without comment marks.
    package let leading: String
    /// The comment after it, on the same line or the next.
    package let trailing: String
  }

  private var pairs: [[Int32]: Pair] = [:]

  package init(_ file: Google_Protobuf_FileDescriptorProto) {
    for location in file.sourceCodeInfo.location
    where location.hasLeadingComments || location.hasTrailingComments {
      pairs[location.path] = Pair(leading: location.leadingComments, trailing: location.trailingComments)
    }
  }

  /// The comments of the declaration at a path.
  package subscript(path: [Int32]) -> Pair? { pairs[path] }
}
