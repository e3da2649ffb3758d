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
    return file.package.isEmpty ? "" : prefix(package: file.package)
  }

  /// `foo.bar_baz` to `Foo_BarBaz_`.
  static func prefix(package: String) -> String {
    var result: [UInt8] = []
    var startsWord = true
    for byte in package.utf8 {
      switch byte {
      case UInt8(ascii: "_"): startsWord = true
      case UInt8(ascii: "."):
        startsWord = true
        result.append(UInt8(ascii: "_"))
      default:
        if result.isEmpty, byte.isDigit { result.append(UInt8(ascii: "_")) }
        result.append(startsWord ? byte.uppercased : byte)
        startsWord = false
      }
    }
    return String(decoding: result, as: UTF8.self) + "_"
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
