import HTTP2TestSupport
import SwitchboardCall

@testable import SwitchboardNetwork

/// Lookups of a client on its own loop.
struct NameLookups {
  let group: LoopGroup
  let loop: Loop
  private let client: Confined

  /// Touched on the loop alone.
  private final class Confined: @unchecked Sendable {
    let client: NameClient
    init(_ client: NameClient) { self.client = client }
  }

  init(_ make: (Loop) throws -> NameClient) throws {
    group = try LoopGroup()
    loop = group.loops[0]
    client = Confined(try make(loop))
  }

  /// Asks one server.
  init(_ authority: String, timeout: Duration = .seconds(60)) throws {
    try self.init { try NameClient(authority: authority, on: $0, timeout: timeout) }
  }

  func addresses(of name: String, port: Int = 80) async -> Result<NameAnswer, GRPCStatus> {
    await withCheckedContinuation { continuation in
      with { client in client.addresses(of: name, port: port) { continuation.resume(returning: $0) } }
    }
  }

  func texts(of name: String) async -> Result<[String], GRPCStatus> {
    await withCheckedContinuation { continuation in
      with { client in client.texts(of: name) { continuation.resume(returning: $0) } }
    }
  }

  /// The message of a lookup that fails.
  func failure(of name: String) async -> String? {
    guard case .failure(let status) = await addresses(of: name) else { return nil }
    return status.code == .unavailable ? status.message : "\(status)"
  }

  /// Uses the client on its loop.
  func with(_ body: @escaping @Sendable (NameClient) -> Void) {
    loop.execute { [client] in body(client.client) }
  }

  /// Returns when nothing is open on the loop.
  func untilIdle() async {
    await loop.until { [loop] in loop.openHandles == 0 }
  }
}
