public import SwitchboardCall
import SwitchboardNetwork
import SwitchboardServices
public import SwitchboardTelemetry
import SwitchboardText
public import SwitchboardTransport

/// A page that shows what the servers and channels of the process do: calls per second, errors and latencies of each
/// method, single calls, event loops, and connections.
///
/// ```swift
/// let console = try Console(telemetry: telemetry)
/// console.add(server, name: "shop")
/// try console.serve(port: 9465)
/// ```
/// The log says where the page is, and which token opens it. The figures of calls are those of the telemetry, so servers and
/// channels need its observer. Nothing is kept of servers and channels: those that are released disappear from the page.
///
/// Every view answers in JSON, too, at the same path; see ``ConsoleOptions``. `shutDown` ends it; a server that has its pages
/// keeps it until then.
public final class Console: Sendable {
  private let options: ConsoleOptions
  private let access: ConsoleAccess.Check
  private let entries: ConsoleEntries
  let views: ConsoleViews
  private let actions: ConsoleActions
  private let answers: SharedAnswers
  private let use: ConsoleUse
  private let watching: Task<Void, Never>
  private let group: LoopGroup
  /// The servers of the page. `nil` once the console is shut down.
  private let servers = Locked<[Server]?>([])

  /// Makes a console that shows no servers and channels yet. Without `telemetry`, it shows connections, and no figures of
  /// calls.
  ///
  /// It begins to keep the figures of the last 15 minutes at once: 8 KB for each method, at most
  /// `ConsoleOptions.maxMethods`. Throws if an option is invalid.
  public convenience init(telemetry: Telemetry? = nil, options: ConsoleOptions = ConsoleOptions())
    throws(GRPCStatus)
  {
    try self.init(telemetry, options, time: SystemTime())
  }

  /// Makes a console of a server of another process, which shows what that tells itself.
  package convenience init(of server: RemoteServer, options: ConsoleOptions = ConsoleOptions())
    throws(GRPCStatus)
  {
    try self.init(nil, options, time: SystemTime(), of: server)
  }

  /// `watches`: whether the figures are read by themselves, and not only by `look`.
  init(
    _ telemetry: Telemetry?,
    _ options: ConsoleOptions,
    time: any CallTime,
    watches: Bool = true,
    of remote: RemoteServer? = nil
  ) throws(GRPCStatus) {
    try options.check()
    self.options = options
    access = options.access.check()
    // A thread of its own, so that neither calls nor exports wait for the page.
    let group = try LoopGroup()
    self.group = group
    let clock = ConsoleClock(time: time, loop: group.nextLoop())
    use = ConsoleUse(options.logger)
    let entries = ConsoleEntries()
    self.entries = entries
    let source: any ConsoleSource =
      if let remote {
        RemoteSource(remote, maxMethods: options.maxMethods, clock)
      } else {
        try LocalSource(entries, telemetry, options, clock)
      }
    let views = ConsoleViews(source, telemetry, clock, use)
    self.views = views
    answers = SharedAnswers(time, on: clock.loop)
    actions = ConsoleActions(views, options, answers, clock)
    telemetry?.pageWasMade()
    watching = Task.detached(executorPreference: clock.loop) { if watches { await views.watch() } }
  }

  deinit {
    use.consoleWasReleased()
    watching.cancel()
    group.shutDown()
  }

  /// Shows a server, under this name.
  public func add(_ server: Server, name: String = "") { entries.add(server, name) }

  /// Shows a channel, under this name. One without connections of its own has none to show: one within the process, or one
  /// that uses a pool.
  public func add(_ channel: Channel, name: String = "") { entries.add(channel, name) }

  /// The page and its views, for the port of a server that also serves calls:
  ///
  /// ```swift
  /// serverOptions.pages += console.pages()
  /// ```
  /// The page is then at `path`, and the views are below it. The server keeps the console. Who may see it is decided by
  /// ``ConsoleOptions/access``, on this port as on any other; under which names the server answers is up to the server.
  public func pages(path: String = "/console") throws(GRPCStatus) -> [HTTPPage] {
    guard !isShutDown else { throw .consoleWasShutDown }
    let place = try ConsolePlace(path)
    use.pageWasPlaced()
    let page = ConsoleAssets.page(at: place)
    var pages =
      ConsoleAssets.pages(at: place, page)
      + views.pages(at: place) { [self] view, request in await answer(view, request, page) }
      + actions.pages(at: place) { [self] action, request in
        await ifAllowed(request) { await actions.answer(action, request) }
      }
      + [
        HTTPPage("GET", place.path("session")) { [self] request in
          await ifAllowed(request) { await actions.session(of: request) }
        }
      ]
    // All of them are on the same servers.
    pages[0].wasExposed = { [use] in use.pageIsReadable(at: $0) }
    return pages
  }

  private func answer(_ view: any ConsoleView, _ request: HTTPPage.Request, _ page: HTTPPage.Response) async
    -> HTTPPage.Response
  {
    // Whoever opens the path in a browser wants the page, which then asks for the view.
    if ConsoleAssets.isWanted(by: request) { return page }
    return await ifAllowed(request) {
      if let permission = type(of: view).permission,
        let refusal = await actions.refusal(of: request, permission)
      {
        return refusal
      }
      let queue = views.queue(of: view, request.query)
      return await answers.answer(to: "\(type(of: view).name)?\(request.query ?? "")", in: queue) {
        [views] in await views.answer(view, request.query)
      }
    }
  }

  /// What `answer` makes, for those who may see the console.
  private func ifAllowed(_ request: HTTPPage.Request, _ answer: () async -> HTTPPage.Response) async
    -> HTTPPage.Response
  {
    if let refusal = await access.refusal(of: request) { return refusal }
    guard !isShutDown else { return .text(503, "the console was shut down") }
    return await answer()
  }

  private var isShutDown: Bool { servers.withLock { $0 == nil } }

  /// Serves the page at a port of its own, by default only for this machine, and logs its address. Port 0 picks a free port.
  /// The server runs until `shutDown`.
  ///
  /// If only this machine can reach it, or `names` are given, requests must call it by one of them, by `host` or by a
  /// loopback address or name. A web page could otherwise reach it through the browser of somebody at this machine.
  @discardableResult
  public func serve(host: String = "127.0.0.1", port: Int = 9465, names: [String] = []) throws(GRPCStatus)
    -> SocketAddress
  {
    var serverOptions = ServerOptions()
    serverOptions.pages = try pages(path: "/")
    serverOptions.logger = options.logger
    let isChecked = !names.isEmpty || HostNames.isLocal(host)
    serverOptions.hosts = isChecked ? HostNames(names + [host]) : nil
    // There are few viewers.
    serverOptions.maxConnections = 64
    // Connections that ask for nothing do not shut them out.
    serverOptions.makesRoomForConnections = true
    serverOptions.handshakeTimeout = .seconds(5)
    serverOptions.requestTimeout = .seconds(10)
    serverOptions.maxConnectionIdle = .seconds(60)
    let server = try Server(providers: [], options: serverOptions, group: group)
    let address = try server.bind(host: host, port: port)
    guard servers.withLock({ $0?.append(server) }) != nil else { throw .consoleWasShutDown }
    options.logger.log(.info, "the console is at \(link(to: address))")
    return address
  }

  /// The link that opens the page where `serve` has put it, for a program that prints it. It has the token that the console has
  /// made; if a token of the program's own or the program decides who may see the page, it has none.
  public func link(to address: SocketAddress) -> String {
    let isAny = ["0.0.0.0", "::"].contains { address.host.isExactly($0) }
    let name = isAny ? "localhost" : address.host
    let host = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
    let page = "http://\(host):\(address.port)/"
    return access.madeToken.map { "\(page)#token=\($0)" } ?? page
  }

  /// Ends a period of the figures, as happens every few seconds.
  func look() async { await views.look() }

  /// The number of calls of viewers.
  var callCount: Int { get async { await views.calls.count } }

  /// Stops watching, and the servers of the page.
  public func shutDown() async {
    watching.cancel()
    let servers = servers.withLock { servers in
      defer { servers = nil }
      return servers ?? []
    }
    for server in servers { await server.shutDown(grace: .zero) }
    await views.calls.shutDown()
    group.shutDown()
  }
}

extension GRPCStatus {
  fileprivate static let consoleWasShutDown = GRPCStatus(
    code: .failedPrecondition,
    message: "the console was shut down: make another one"
  )
}
