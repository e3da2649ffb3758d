public import Switchboard

extension Telemetry {
  /// The metrics in a format that Prometheus reads, and its content type. The format is OpenMetrics, which has
  /// exemplars, if `accept` asks for it.
  ///
  /// `accept` is the header of the scraper's request.
  public func metricsText(accept: String = "") -> (contentType: String, text: String) {
    let format = PrometheusText.Format(accept: accept)
    return (format.contentType, pages.text(format))
  }

  /// A page for scrapers on the port of a server, which also serves calls there.
  ///
  /// ```swift
  /// serverOptions.pages.append(telemetry.metricsPage())
  /// ```
  /// The page is written on another thread, with low priority, so that neither calls nor exports wait for it; requests
  /// that wait for it share it. It shows the names of methods and the labels that the program sets, so only your own
  /// scrapers should be able to reach it.
  public func metricsPage(path: String = "/metrics") -> HTTPPage {
    pageWasMade()
    return HTTPPage("GET", path) { [self] request in
      pageWasRead()
      let accept = request.headers["accept"].joined(separator: ",")
      // It fails only if nobody waits for the page any more.
      return (try? await pages.next(PrometheusText.Format(accept: accept))) ?? HTTPPage.Response(status: 503)
    }
  }

  /// Serves the page for scrapers at a port of its own, by default only for this machine. Port 0 picks a free port. The
  /// server runs until `shutDown`, after which this throws `FAILED_PRECONDITION`.
  ///
  /// If only this machine can reach it, or `names` are given, requests must call it by one of them, by `host` or by a
  /// loopback address or name; others are rejected with 421. A web page could otherwise read the metrics through the
  /// browser of somebody at this machine. A scraper behind a proxy may need its name here.
  @discardableResult
  public func serveMetrics(
    host: String = "127.0.0.1",
    port: Int = 9464,
    path: String = "/metrics",
    names: [String] = []
  ) throws(GRPCStatus) -> SocketAddress {
    let isChecked = !names.isEmpty || HostNames.isLocal(host)
    let server = try metricsServer(path, isChecked ? HostNames(names + [host]) : nil)
    let address = try server.bind(host: host, port: port)
    try keep(server)
    return address
  }

  func metricsServer(_ path: String, _ hosts: HostNames? = nil) throws(GRPCStatus) -> Server {
    var options = ServerOptions()
    options.hosts = hosts
    options.pages = [metricsPage(path: path)]
    if path != "/" {
      let hint = HTTPPage.Response(
        status: 404,
        contentType: "text/plain",
        body: "the metrics are at \(path)\n".utf8
      )
      options.pages.append(HTTPPage("GET", "/") { _ in hint })
    }
    // There are few scrapers, and none needs its connection for long: others get it.
    options.maxConnections = 64
    options.handshakeTimeout = .seconds(5)
    options.requestTimeout = .seconds(10)
    options.maxConnectionIdle = .seconds(10)
    options.maxConnectionAge = .seconds(60)
    options.connectionAgeGrace = .seconds(10)
    return try Server(providers: [], options: options)
  }
}
