// unsafe: c-ares: a channel owned by one object, callbacks within one call into it

import CAres
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A c-ares channel on a loop. It is open while lookups are in progress, and closes with the last one.
///
/// c-ares calls a query's callback while it works on other queries. So a callback only records the result, which is
/// processed later on the loop, and c-ares is never called from its own callbacks.
final class NameChannel {
  struct Settings {
    /// The servers to ask; empty for those of the configuration.
    var servers: [SocketAddress]
    var timeout: Duration
    /// The path of `resolv.conf`.
    var configuration: String
  }

  private let loop: Loop
  /// `nil` once it is closed.
  private var channel: ares_channel?
  private let functions = UnsafeMutablePointer<ares_socket_functions>.allocate(capacity: 1)
  private var sockets: [Int32: NameSocket] = [:]
  /// For how many more addresses c-ares may look up the route in this turn, to sort them as in RFC 6724. It opens a
  /// socket for each.
  private var routesLeft = NameChannel.routesPerTurn
  private static let routesPerTurn = 256
  private var ticker: LoopTimer?
  private var tick = Duration.zero
  /// The servers, for error messages.
  private(set) var described = ""
  /// The number of lookups that callers wait for. The channel closes with the last one, and c-ares drops any others.
  var lookups = 0 {
    didSet { if lookups == 0 { close() } }
  }

  var isClosed: Bool { channel == nil }

  /// Required before the first channel, once for the process.
  private static let libraryStatus = ares_library_init(ARES_LIB_INIT_ALL)

  init(_ settings: Settings, on loop: Loop) throws(NameFailure) {
    self.loop = loop
    functions.initialize(to: NameSocket.functions)
    try NameFailure.checkDescriptors()
    try check(Self.libraryStatus)
    var servers = settings.servers
    var pace = Pace(settings.timeout, servers: max(1, servers.count))
    var channel = try make(settings, pace)
    if servers.isEmpty {
      // The timeout of each server depends on their number, which is known only now.
      servers = Self.servers(of: channel)
      if servers.count > 1 {
        ares_destroy(channel)
        pace = Pace(settings.timeout, servers: servers.count)
        channel = try make(settings, pace)
      }
    }
    self.channel = channel
    tick = pace.tick
    described = "the name service " + servers.map(\.endpoint).joined(separator: ", ")
    ares_set_socket_functions(channel, functions, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    // Without lookups there are no sockets, and no callbacks.
    if let channel { ares_destroy(channel) }
    functions.deallocate()
  }

  private func make(_ settings: Settings, _ pace: Pace) throws(NameFailure) -> ares_channel {
    var options = ares_options()
    options.timeout = Int32(clamping: pace.first.nanoseconds / 1_000_000)
    options.tries = Int32(pace.rounds)
    options.sock_state_cb = { NameChannel.of($0)?.watch($1, readable: $2 != 0, writable: $3 != 0) }
    options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
    var channel: ares_channel?
    let result = settings.configuration.withCString { path in
      // c-ares copies the path, and does not write to it.
      options.resolvconf_path = UnsafeMutablePointer(mutating: path)
      return ares_init_options(
        &channel,
        &options,
        ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF
      )
    }
    try check(result)
    guard let channel else { throw NameFailure(ARES_ENOMEM, asking: "the name service") }
    if !settings.servers.isEmpty {
      let list = settings.servers.map(\.endpoint).joined(separator: ",")
      let result = ares_set_servers_ports_csv(channel, list)
      if result != ARES_SUCCESS { ares_destroy(channel) }
      try check(result)
    }
    return channel
  }

  private func check(_ status: Int32) throws(NameFailure) {
    if status != ARES_SUCCESS { throw NameFailure(status, asking: "the name service") }
  }

  private static func servers(of channel: ares_channel) -> [SocketAddress] {
    var list: UnsafeMutablePointer<ares_addr_port_node>?
    guard ares_get_servers_ports(channel, &list) == ARES_SUCCESS else { return [] }
    defer { ares_free_data(list) }
    var servers: [SocketAddress] = []
    var node = list
    while let current = node {
      let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        let name = ares_inet_ntop(current.pointee.family, &current.pointee.addr, text.baseAddress, 64)
        return name.map { String(cString: $0) } ?? ""
      }
      let port = Int(current.pointee.udp_port)
      if let server = SocketAddress.numeric(text, port: port == 0 ? 53 : port) { servers.append(server) }
      node = current.pointee.next
    }
    return servers
  }
}

// MARK: - Lookups

extension NameChannel {
  /// Passes the c-ares channel to `body` for a query, and starts the timer that drives c-ares.
  func query(_ body: (ares_channel) -> Void) {
    guard let channel else { return }
    routesLeft = Self.routesPerTurn
    body(channel)
    if ticker == nil { startTicking() }
  }

  /// c-ares can report when its next query times out, but needs time in proportion to the number of queries.
  private func startTicking() {
    let ticker = LoopTimer { [weak self] in
      guard let self, let channel, let ticker = self.ticker else { return }
      routesLeft = Self.routesPerTurn
      ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD)
      loop.schedule(ticker, after: tick)
    }
    self.ticker = ticker
    loop.schedule(ticker, after: tick)
  }

  private func close() {
    guard let channel else { return }
    self.channel = nil
    if let ticker { loop.cancel(ticker) }
    ticker = nil
    ares_destroy(channel)
  }
}

// MARK: - Sockets

extension NameChannel {
  private static func of(_ data: UnsafeMutableRawPointer?) -> NameChannel? {
    data.map { Unmanaged<NameChannel>.fromOpaque($0).takeUnretainedValue() }
  }

  static func open(_ data: UnsafeMutableRawPointer?, _ family: Int32, _ type: Int32, _ transport: Int32)
    -> Int32
  {
    guard let channel = of(data) else { return ARES_SOCKET_BAD }
    // c-ares passes a transport only for sockets that look up a route.
    if transport != 0 {
      guard channel.routesLeft > 0 else {
        // c-ares then treats the address as unreachable and sorts it after reachable ones.
        errno = EAFNOSUPPORT
        return ARES_SOCKET_BAD
      }
      channel.routesLeft -= 1
    }
    let descriptor = switchboard_dns_socket(family, type, transport)
    guard descriptor >= 0 else { return ARES_SOCKET_BAD }
    channel.sockets[descriptor] = NameSocket(descriptor, isStream: switchboard_is_stream(type) != 0)
    return descriptor
  }

  static func socket(_ data: UnsafeMutableRawPointer?, _ descriptor: Int32) -> NameSocket? {
    of(data)?.sockets[descriptor]
  }

  static func close(_ data: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    of(data)?.sockets.removeValue(forKey: descriptor)?.close() ?? -1
  }

  /// Called when c-ares starts waiting for a socket, or stops because it is about to close it.
  private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
    guard let socket = sockets[descriptor] else { return }
    var events = PollHandle.Events()
    if readable { events.insert(.readable) }
    if writable { events.insert(.writable) }
    if socket.poll == nil, !events.isEmpty {
      // If the loop cannot watch the socket, the query times out.
      socket.poll = try? PollHandle(descriptor, on: loop) { [weak self, weak socket] events in
        if let socket { self?.process(socket, events) }
      }
    }
    socket.poll?.watch(for: events)
  }

  private func process(_ socket: NameSocket, _ events: PollHandle.Events) {
    let descriptor = socket.descriptor
    let reading = events.contains(.readable) ? descriptor : ARES_SOCKET_BAD
    var writing = events.contains(.writable) ? descriptor : ARES_SOCKET_BAD
    socket.beginTurn()
    routesLeft = Self.routesPerTurn
    repeat {
      guard let channel else { return }
      ares_process_fd(channel, reading, writing)
      writing = ARES_SOCKET_BAD
    } while sockets[descriptor] === socket && socket.hasMore
  }
}

/// The timeouts of c-ares. It asks each server in turn, and doubles the timeout in each round. The total is less than a
/// lookup may take, so that the addresses of one family are still used if the other's query times out.
private struct Pace {
  let rounds: Int
  let first: Duration

  init(_ timeout: Duration, servers: Int) {
    rounds = servers == 1 ? 3 : 2
    let shares = servers * ((1 << rounds) - 1)
    first = max(timeout * 0.8 / shares, .milliseconds(10))
  }

  /// How often to check for timeouts.
  var tick: Duration { min(first / 4, .milliseconds(250)) }
}
