/// How a package is moved.
package struct MigrationSettings: Sendable, Hashable {
  /// Switchboard in a manifest.
  package struct Dependency: Sendable, Hashable {
    /// The package's name in products.
    let name: String
    /// The element of the list of dependencies.
    let declaration: String

    package init(name: String, declaration: String) {
      self.name = name
      self.declaration = declaration
    }
  }

  /// The dependency on Switchboard in a manifest; nil if manifests stay as they are.
  var dependency: Dependency?
  /// Whether messages remain those of SwiftProtobuf.
  package var keepsMessages: Bool

  package init(dependency: Dependency? = nil, keepsMessages: Bool = false) {
    self.dependency = dependency
    self.keepsMessages = keepsMessages
  }
}
