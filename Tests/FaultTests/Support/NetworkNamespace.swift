import Foundation
import Switchboard
import TestSupport

/// A network namespace with one link to the host. Needs root and iproute2.
final class NetworkNamespace: Sendable {
  /// Whether this machine can create one.
  static let isPossible = Task {
    do {
      try await NetworkNamespace().remove()
      return true
    } catch {
      return false
    }
  }

  private static let program =
    ["/usr/sbin/ip", "/sbin/ip"]
    .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "ip"

  struct Refused: Error {
    let words: [String]
    let errors: String
  }

  let name: String
  /// The address in the namespace.
  let address: String
  private let inner: String

  /// Uses addresses reserved for network tests.
  init() async throws {
    let number = Int.random(in: 0..<1 << 14)
    name = "switchboard\(getpid())x\(number)"
    let (outer, inner) = ("swo\(number)", "swi\(number)")
    let network = "198.18.\(number >> 6)"
    let host = (number & 63) << 2
    address = "\(network).\(host + 2)"
    self.inner = inner
    try await Self.ip("netns", "add", name)
    do {
      try await Self.ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
      try await Self.ip("address", "add", "\(network).\(host + 1)/30", "dev", outer)
      try await Self.ip("link", "set", outer, "up")
      try await Self.ip("-n", name, "address", "add", "\(address)/30", "dev", inner)
      try await Self.ip("-n", name, "link", "set", inner, "up")
    } catch {
      await remove()
      throw error
    }
  }

  /// Takes the link down at the far end: packets are lost without an error.
  func cut() async throws { try await Self.ip("-n", name, "link", "set", inner, "down") }

  func heal() async throws { try await Self.ip("-n", name, "link", "set", inner, "up") }

  /// Deleting the namespace also deletes the link.
  func remove() async { try? await Self.ip("netns", "delete", name) }

  /// Starts our interoperability server in the namespace.
  func startServer() throws -> InteropProcess {
    let words = ["netns", "exec", name, Command.path(ofProduct: "Interop"), "server", "--port=0"]
    return try InteropProcess(
      ChildProcess(Self.program, words + ["--host=\(address)"], errors: .discarded)
    )
  }

  private static func ip(_ words: String...) async throws {
    let result = await MayBlock.task { Result { try Command.run(program, words) } }.value
    let command = try result.get()
    guard command.exitCode == 0 else { throw Refused(words: words, errors: command.errors) }
  }
}
