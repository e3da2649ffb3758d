import Switchboard
import SwitchboardText

/// The names of the services of a health service's servers, to find those that were misspelled.
struct ServedNames: Sendable {
  private var services: Set<ExactText> = []
  private var logger: Logger?
  private var remarked: Set<ExactText> = []

  private var mayEnd = false

  var hasServer: Bool { logger != nil }

  /// A server has the health service, and ends it with itself. Returns whether that is so of another one, too.
  mutating func mayShutDown() -> Bool {
    defer { mayEnd = true }
    return mayEnd
  }

  /// A program that makes up names must fill neither the memory nor the log.
  private static let mostRemarks = 64

  /// The names of services that no server has.
  struct Remark: Sendable {
    fileprivate let names: [String]
    fileprivate let services: [String]
    fileprivate let logger: Logger

    private static let mostShown = 10

    func log() {
      for name in names {
        var details = ["name": name, "services": services.prefix(Self.mostShown).joined(separator: ", ")]
        if let near = NearNames(of: name, in: services).best { details["hint"] = "did you mean \(near)?" }
        logger.log(.warning, "the health was set of a service that the server does not have", details)
      }
    }
  }

  mutating func add(_ names: [String], _ logger: Logger) {
    for name in names { _ = services.insert(name) }
    self.logger = logger
  }

  /// Those of the names that are mistaken, each once; `nil` if there are none. They are logged without a lock: a logger is
  /// the application's.
  mutating func remark(on names: [String]) -> Remark? {
    guard let logger else { return nil }
    let mistaken = names.filter { isMistaken($0) }
    for name in mistaken { _ = remarked.insert(name) }
    guard !mistaken.isEmpty else { return nil }
    return Remark(names: mistaken, services: services.map(\.text).sorted(), logger: logger)
  }

  private func isMistaken(_ name: String) -> Bool {
    guard !name.utf8.isEmpty, !services.contains(name), !remarked.contains(name),
      remarked.count < Self.mostRemarks
    else { return false }
    return name.utf8.contains(UInt8(ascii: ".")) || NearNames(of: name, in: services.map(\.text)).best != nil
  }
}
