import Foundation
import Switchboard

/// Finds servers in a file with an address in each line, such as `127.0.0.1:50051`: `file:///etc/greeters`.
struct FileResolver: Resolver {
  let schemes = ["file"]
  /// The file contains no service config, so calls need not wait for it.
  let findsServiceConfigs = false

  /// A path is not the name of a server.
  func serverName(of target: Target) throws(GRPCStatus) -> String { "localhost" }

  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    FileResolution(path: "/\(target.endpoint)", updates)
  }

  /// Reads the endpoints from the file at `path`.
  static func read(_ path: String) -> ResolverResult {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return ResolverResult(failure: GRPCStatus(code: .unavailable, message: "\(path) cannot be read"))
    }
    var endpoints: [Endpoint] = []
    for line in text.split(separator: "\n") {
      guard let colon = line.lastIndex(of: ":"), let port = UInt16(line[line.index(after: colon)...]),
        let address = EndpointAddress(ip: line[..<colon], port: port)
      else {
        return ResolverResult(
          failure: GRPCStatus(code: .unavailable, message: "\(path): \(line) is not an address")
        )
      }
      endpoints.append(Endpoint([address]))
    }
    return ResolverResult(endpoints: endpoints)
  }
}

/// Reads the file at once, and again when a connection fails.
private final class FileResolution: Resolution {
  private let path: String
  private let updates: ResolverUpdates
  private var reading: Task<Void, Never>?

  init(path: String, _ updates: ResolverUpdates) {
    (self.path, self.updates) = (path, updates)
    resolveAgain()
  }

  func resolveAgain() {
    reading?.cancel()
    // Not on the loop, which must not wait for a disk.
    reading = Task { [path, updates] in
      let result = FileResolver.read(path)
      if !Task.isCancelled { updates.report(result) }
    }
  }

  func stop() { reading?.cancel() }
}
