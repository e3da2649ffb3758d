import SwitchboardCall
import SwitchboardText

/// Which fields of metadata are shown with their values.
struct ShownMetadata: Sendable {
  private var names: [[UInt8]]

  init(_ names: [String]) { self.names = names.map { $0.utf8.map(\.lowercased) } }

  /// The fields that are never shown, whoever names them: whoever has one could act for its owner.
  private static let secret = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

  /// Throws if a name is none, or is one of a field that is never shown.
  static func check(_ names: [String]) throws(GRPCStatus) {
    for name in names {
      let bytes = name.utf8.map(\.lowercased)
      if secret.contains(where: { $0.utf8.elementsEqual(bytes) }) {
        throw mistake("never shows '\(name)', with which others could act for its owner")
      }
      if bytes.suffix(4).elementsEqual("-bin".utf8) {
        throw mistake("shows the length of '\(name)' only, as of all binary fields")
      }
      guard !bytes.isEmpty, bytes.count <= KeptCall.longestName, bytes.allSatisfy(isOfName) else {
        throw mistake("has names of metadata: letters, digits and -_. only: \(name.excerpt.debugDescription)")
      }
    }
  }

  private static func mistake(_ text: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "ConsoleOptions.shownMetadata \(text)")
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || "-_.".utf8.contains(byte)
  }

  mutating func add(_ others: ShownMetadata) { names += others.names.filter { !names.contains($0) } }

  /// Whether the values of fields with this name are shown.
  func includes(_ name: some Collection<UInt8>) -> Bool {
    names.contains { known in
      known.count == name.count && zip(known, name).allSatisfy { $0 == $1.lowercased }
    }
  }
}
