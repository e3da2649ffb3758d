import SwitchboardCall
import SwitchboardText
import SwitchboardTransport

/// The methods of the servers that a console shows, as `package.Service/Method`.
struct ServedMethods {
  private let names: [String]

  /// The most methods to choose from at once.
  private static let most = 20
  private static let longestName = 1024

  init(_ entries: ConsoleEntries) {
    let paths = Set(entries.servers.flatMap { $0.server.methodPaths.values.map(ExactText.init) })
    names = paths.map { Self.name($0.text) }.sorted { $0.precedes($1) }
  }

  /// The name in a method's path.
  static func name(_ path: String) -> String { String(decoding: path.utf8.dropFirst(), as: UTF8.self) }

  /// The first of those whose names contain this.
  func containing(_ part: [UInt8]) -> [String] {
    let found = names.lazy.filter { name in
      let bytes = Array(name.utf8)
      return part.isEmpty || bytes.indices.contains { bytes[$0...].starts(with: part) }
    }
    return Array(found.prefix(Self.most))
  }

  /// Whether a server has the service of this method, and no server has the method.
  func areWithout(_ name: String) -> Bool {
    let service = Array(name.utf8.prefix { $0 != UInt8(ascii: "/") }) + [UInt8(ascii: "/")]
    return names.contains { $0.utf8.starts(with: service) } && !names.contains { $0.isExactly(name) }
  }

  /// The status of a request that names a method which no server has.
  func unknown(_ name: String) -> GRPCStatus {
    let near = NearNames(of: name, in: names).best.map { ": did you mean \($0)?" } ?? ""
    let message =
      areWithout(name)
      ? "the service has no method of this name" : "no server that the console shows has this method"
    return GRPCStatus(code: .notFound, message: message + near)
  }

  /// Throws if a name is none of a method.
  static func check(_ name: String) throws(GRPCStatus) {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard name.utf8.count <= longestName, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
      throw GRPCStatus(code: .invalidArgument, message: "method is package.Service/Method")
    }
  }
}
