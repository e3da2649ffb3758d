import SwitchboardSchema
import SwitchboardText

/// Names of types.
enum TypeNames {
  /// The prefix of a file's type names: the option `swift_prefix`, or the package with `_` instead of dots.
  static func prefix(of file: FileDescriptor) throws(GeneratorError) -> String {
    if let prefix = file.options.swiftPrefix {
      guard prefix.isEmpty || prefix.isIdentifier else {
        throw GeneratorError("\(file.name): the swift_prefix '\(prefix)' is not the start of an identifier")
      }
      return prefix
    }
    return file.package.isEmpty ? "" : SwiftNames.prefix(of: file.package)
  }

  /// The prefix and the name of the file, for declarations of the file as a whole: `Foo_Bar_Order`. The folders of the
  /// file are part of it only if `withFolders`.
  static func fileScope(prefix: String, file: String, withFolders: Bool = false) -> String {
    let path = withFolders ? file[...] : file.split(separator: "/").last ?? ""
    let stem = path.hasSuffix(".proto") ? path.dropLast(6) : path
    let letters = stem.utf8.map { $0.isLetter || $0.isDigit ? $0 : UInt8(ascii: "_") }
    return prefix + CamelCase.upper(String(decoding: letters, as: UTF8.self))
  }
}
