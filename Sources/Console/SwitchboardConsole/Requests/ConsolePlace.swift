import SwitchboardCall

/// Where on a server the page is.
struct ConsolePlace: Sendable {
  /// What the paths of views begin with: empty at the root.
  let prefix: String

  /// Throws if no page can be there.
  init(_ path: String) throws(GRPCStatus) {
    let extra = Array("-._~/".utf8)
    let isPlain = path.utf8.allSatisfy { byte in
      let letter = byte | 0x20
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) || extra.contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let isWhole =
      path.utf8.first == UInt8(ascii: "/") && (path.utf8.count == 1 || path.utf8.last != UInt8(ascii: "/"))
    let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isDirect =
      path.utf8.count == 1
      || parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    guard isPlain, isWhole, isDirect else {
      throw GRPCStatus(
        code: .invalidArgument,
        message:
          "the path of a console begins with a slash, ends with none, and has letters, digits and -._~/ only: "
          + path.debugDescription
      )
    }
    prefix = path.utf8.count == 1 ? "" : path
  }

  /// The path of the page itself.
  var root: String { prefix.isEmpty ? "/" : prefix }

  /// The path of something below it.
  func path(_ name: String) -> String { "\(prefix)/\(name)" }
}
