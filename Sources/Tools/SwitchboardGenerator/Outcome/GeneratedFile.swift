/// A file that was generated.
public struct GeneratedFile: Hashable, Sendable {
  /// The path below the output directory, with `/` between its parts.
  public var name: String

  /// The source text.
  public var content: String

  /// A file with a name and a content.
  public init(name: String, content: String) {
    self.name = name
    self.content = content
  }
}
