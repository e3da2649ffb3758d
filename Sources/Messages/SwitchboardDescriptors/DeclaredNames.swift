import SwitchboardSchema
import SwitchboardText

/// Checks the names that files declare, so that all others can rely on them: a full name is a short text of ASCII, and
/// is declared once.
struct DeclaredNames {
  /// A full name contains the names of all scopes around it, so without a limit the names would take memory in proportion
  /// to the square of the descriptors' size.
  private static let longest = DescriptorPool.longestName
  /// The most memory for the declarations of all files together: for each the full name, and what a pool has for it.
  private static let mostBytes = 256 << 20
  private static let bytesPerDeclaration = 200

  /// The full names of types, services and extensions.
  private var symbols: Set<ExactText> = []
  private var bytes = 0

  /// Checks the name of a file and of its package.
  func check(_ file: Google_Protobuf_FileDescriptorProto) throws(DescriptorError) {
    guard file.name.utf8.count <= Self.longest, file.name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw DescriptorError(
        file: DescriptorError.shown(file.name),
        "the file's name is longer than \(Self.longest) bytes or has control characters"
      )
    }
    guard file.package.isEmpty || file.package.utf8.count <= Self.longest && file.package.isFullName else {
      throw DescriptorError(
        file: file.name,
        "'\(DescriptorError.shown(file.package))' is not a valid package"
      )
    }
  }

  /// Adds the name of a declaration to the other names of its scope, and returns the full name.
  mutating func add(
    _ name: String,
    to names: inout Set<ExactText>,
    in scope: PoolBuilder.Scope
  ) throws(DescriptorError) -> String {
    guard name.isIdentifier else {
      throw DescriptorError(
        file: scope.file,
        "'\(DescriptorError.shown(name))'\(scope.prefix.isEmpty ? "" : " in \(scope.prefix)") is not a valid name"
      )
    }
    let fullName = scope.fullName(name)
    guard fullName.utf8.count <= Self.longest else {
      throw DescriptorError(
        file: scope.file,
        "the name '\(DescriptorError.shown(fullName))' is longer than \(Self.longest) bytes"
      )
    }
    bytes += fullName.utf8.count + Self.bytesPerDeclaration
    guard bytes <= Self.mostBytes else {
      throw DescriptorError(file: scope.file, "the files declare too much")
    }
    guard names.insert(name) else { throw twice(fullName, in: scope) }
    return fullName
  }

  /// The same for a declaration whose full name no other file may declare.
  mutating func add(
    symbol name: String,
    to names: inout Set<ExactText>,
    in scope: PoolBuilder.Scope
  ) throws(DescriptorError) -> String {
    let fullName = try add(name, to: &names, in: scope)
    guard symbols.insert(fullName) else { throw twice(fullName, in: scope) }
    return fullName
  }

  private func twice(_ fullName: String, in scope: PoolBuilder.Scope) -> DescriptorError {
    DescriptorError(file: scope.file, "\(fullName) is declared twice")
  }
}
