import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The addresses of a name.
package struct NameAnswer: Sendable, Equatable {
  /// IPv6 and IPv4, in the order of RFC 6724: the best reachable first.
  package var addresses: [SocketAddress]
  /// How long the answer is valid: the shortest TTL of its records. `nil` if it is not from a name server.
  var timeToLive: Duration?
}

/// Looks up names for one loop without blocking it. It uses c-ares, which queries the name servers itself.
///
/// The system's configuration is read when a lookup starts, if no other is in progress or the configuration has
/// changed.
///
/// ```swift
/// let names = try NameClient(authority: "127.0.0.1:5353", on: loop)
/// let query = names.addresses(of: "greeter.example", port: 50051) { result in … }
/// query.cancel()
/// ```
package final class NameClient {
  /// The most lookups in progress; others wait. c-ares has one socket for each server, and the system drops answers
  /// that do not fit in its buffer.
  static let maxLookups = 64
  static let defaultTimeout = Duration.seconds(10)
  static let systemConfiguration = "/etc/resolv.conf"

  private let loop: Loop
  private let settings: NameChannel.Settings
  private var channel: NameChannel?
  private var stamp: FileStamp?
  private var running = 0
  private var waiting = Queue<NameQuery>()

  /// Queries the servers of the system's configuration.
  init(
    on loop: Loop,
    timeout: Duration = NameClient.defaultTimeout,
    configuration: String = NameClient.systemConfiguration
  ) {
    self.loop = loop
    settings = NameChannel.Settings(servers: [], timeout: timeout, configuration: configuration)
  }

  /// Queries the servers of an authority instead: numeric addresses with optional ports, separated by commas.
  /// Everything else follows the system's configuration, such as the search domains of short names.
  init(authority: String, on loop: Loop, timeout: Duration = NameClient.defaultTimeout) throws(GRPCStatus) {
    self.loop = loop
    let servers = try NameAuthority.servers(authority)
    settings = NameChannel.Settings(
      servers: servers,
      timeout: timeout,
      configuration: NameClient.systemConfiguration
    )
  }

  /// Looks up the addresses of a host and gives them this port. Calls `completion` later, on the loop, unless the lookup
  /// is cancelled.
  @discardableResult
  package func addresses(
    of host: String,
    port: Int,
    completion: @escaping (Result<NameAnswer, GRPCStatus>) -> Void
  ) -> NameQuery {
    start(NameQuery(Self.asked(host), .addresses(port: port, completion), on: loop))
  }

  /// The name by which c-ares is asked. It knows that `localhost` is this machine (RFC 6761), and asks name servers for
  /// `LOCALHOST` and `localhost.`, whose answer could be anything, unless the system's file of hosts has them.
  private static func asked(_ host: String) -> String {
    let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
    let isLocal = name.count == 9 && Substring(name).lowercased().utf8.elementsEqual("localhost".utf8)
    return isLocal ? "localhost" : host
  }

  /// Looks up the TXT records of a name: one text each, joined from its parts.
  @discardableResult
  func texts(of name: String, completion: @escaping (Result<[String], GRPCStatus>) -> Void) -> NameQuery {
    start(NameQuery(name, .texts(completion), on: loop))
  }

  private func start(_ query: NameQuery) -> NameQuery {
    if loop.hasEnded {
      query.fail("the event loop has ended")
    } else if query.isNumeric {
      query.answerNumber()
    } else if !Self.isName(query.name) {
      query.fail("it is not a host name")
    } else {
      query.wait(in: self, for: settings.timeout)
      waiting.append(query)
      startWaiting()
    }
    return query
  }

  /// Called when a query that used a channel has ended.
  func queryEnded() {
    running -= 1
    startWaiting()
  }

  private func startWaiting() {
    while running < Self.maxLookups, let query = waiting.popFirst() {
      // The query may have ended while it waited.
      guard query.isWaiting else { continue }
      do throws(NameFailure) {
        query.start(on: try currentChannel())
        running += 1
      } catch {
        query.fail(error.reason)
      }
    }
  }

  private func currentChannel() throws(NameFailure) -> NameChannel {
    let stamp = FileStamp(settings.configuration)
    if let channel, !channel.isClosed, stamp == self.stamp { return channel }
    let channel = try NameChannel(settings, on: loop)
    self.channel = channel
    self.stamp = stamp
    return channel
  }

  /// Whether the name can be passed to c-ares: no zero byte, which would end the C string, at most 253 bytes, and
  /// nothing that c-ares may take for a number.
  private static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    let length = bytes.last == UInt8(ascii: ".") ? bytes.count - 1 : bytes.count
    return (1...253).contains(length) && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f }
      && !bytes.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
  }
}

/// The attributes that show whether a file has changed.
private struct FileStamp: Equatable {
  private let seconds: Int
  private let nanoseconds: Int
  private let inode: UInt64
  private let size: Int64

  /// `nil` if there is no such file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Glibc)
      let time = status.st_mtim
    #else
      let time = status.st_mtimespec
    #endif
    seconds = time.tv_sec
    nanoseconds = time.tv_nsec
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
  }
}
