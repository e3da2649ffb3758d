import Glibc

/// What a server calls itself.
struct ServerIdentity: Sendable {
  let id: String
  let hostname: String
}

extension Arguments {
  var identity: ServerIdentity {
    ServerIdentity(
      id: string("server_id") ?? "switchboard_server",
      hostname: string("host_name_override") ?? Self.hostname
    )
  }

  private static var hostname: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
