public import Switchboard

extension Telemetry {
  /// A page for scrapers on the port of a server, which also serves calls there.
  ///
  /// ```swift
  /// serverOptions.pages.append(telemetry.metricsPage())
  /// ```
  /// The page is written on the thread of exports, so that calls do not wait for it. It shows the names of methods and
  /// the labels that the program sets, so only your own scrapers should be able to reach it.
  public func metricsPage(path: String = "/metrics") -> HTTPPage {
    HTTPPage("GET", path) { [self] request in
      let accept = request.headers["accept"].joined(separator: ",")
      let writing = Task(executorPreference: exportLoop) { [self] in
        let (contentType, text) = metricsText(accept: accept)
        return HTTPPage.Response(contentType: contentType, body: text.utf8)
      }
      return await writing.value
    }
  }

  /// Serves the page for scrapers at a port of its own, by default only for this machine. Port 0 picks a free port. The
  /// server runs until `shutDown`, after which this throws `FAILED_PRECONDITION`.
  @discardableResult
  public func serveMetrics(
    host: String = "127.0.0.1",
    port: Int = 9464,
    path: String = "/metrics"
  ) throws(GRPCStatus) -> SocketAddress {
    var options = ServerOptions()
    options.pages = [metricsPage(path: path)]
    if path != "/" {
      let hint = HTTPPage.Response(
        status: 404,
        contentType: "text/plain",
        body: "the metrics are at \(path)\n".utf8
      )
      options.pages.append(HTTPPage("GET", "/") { _ in hint })
    }
    // There are few scrapers.
    options.maxConnections = 64
    let server = try Server(providers: [], options: options)
    let address = try server.bind(host: host, port: port)
    try keep(server)
    return address
  }
}
