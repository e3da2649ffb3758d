import SwitchboardCall

/// The TLS contexts of a server or of servers of a channel, one after the other: there is another one for new connections when a
/// provider of the options has other certificates.
package final class TLSContexts: Sendable {
  fileprivate enum Options: Hashable, Sendable {
    case server(ServerTLS, allowsHTTP1: Bool)
    case client(ClientTLS, serverName: String?, versions: [String])

    var hasProvider: Bool {
      switch self {
      case .server(let tls, _): tls.hasProvider
      case .client(let tls, _, _): tls.hasProvider
      }
    }

    /// The same with what the providers have now.
    func provided() throws(GRPCStatus) -> Options {
      switch self {
      case .server(let tls, let allowsHTTP1): .server(try tls.provided(), allowsHTTP1: allowsHTTP1)
      case .client(let tls, let name, let versions):
        .client(try tls.provided(), serverName: name, versions: versions)
      }
    }

    func makeContext() throws(GRPCStatus) -> TLSContext {
      switch self {
      case .server(let tls, let allowsHTTP1): try TLSContext(server: tls, allowsHTTP1: allowsHTTP1)
      case .client(let tls, let name, let versions):
        try TLSContext(client: tls, serverName: name, versions: versions)
      }
    }
  }

  /// What the log says once.
  fileprivate enum Note {
    case replaced([OptionRemark])
    case refused(GRPCStatus)
  }

  fileprivate struct State {
    /// What the context was made of; `nil` before there is one.
    var source: Options?
    var context: TLSContext?
    /// What was tried last and cannot be used, and why: it is not tried again.
    var refused: Options?
    var failure: GRPCStatus?
  }

  private let options: Options
  private let hasProvider: Bool
  private let logger: Logger
  private let state = Locked(State())

  private init(_ options: Options, _ logger: Logger) {
    self.options = options
    self.logger = logger
    hasProvider = options.hasProvider
  }

  /// Throws if there is nothing to begin with.
  package convenience init(
    server tls: ServerTLS,
    allowsHTTP1: Bool,
    logger: Logger
  ) throws(GRPCStatus) {
    self.init(.server(tls, allowsHTTP1: allowsHTTP1), logger)
    _ = try current()
  }

  /// Throws if there is nothing to begin with, unless `isLate`: then connections wait for it.
  package convenience init(
    client tls: ClientTLS,
    serverName: String?,
    versions: [String] = ["h2"],
    isLate: Bool = false,
    logger: Logger
  ) throws(GRPCStatus) {
    self.init(.client(tls, serverName: serverName, versions: versions), logger)
    if !isLate { _ = try current() }
  }

  /// The options of a server, with its providers.
  package var serverOptions: ServerTLS? { if case .server(let tls, _) = options { tls } else { nil } }

  /// The context of a connection that begins now. Throws if there is none yet.
  package func current() throws(GRPCStatus) -> TLSContext {
    if !hasProvider, let context = latest { return context }
    let wanted = Result { () throws(GRPCStatus) in try options.provided() }
    let (result, note) = state.withLock { $0.take(wanted) }
    switch note {
    case nil: break
    case .replaced(let remarks):
      logger.log(.info, "new connections use other certificates")
      for remark in remarks { logger.log(remark, of: "certificates") }
    case .refused(let status):
      logger.log(
        .warning,
        "a certificate provider has nothing that can be used: new connections use what the ones before did",
        ["reason": "\(status)"]
      )
    }
    return try result.get()
  }

  /// The context of the last connection; `nil` before the first one.
  package var latest: TLSContext? { state.withLock(\.context) }
}

extension TLSContexts.State {
  /// Makes a context if there are other certificates. What cannot be used changes nothing.
  fileprivate mutating func take(
    _ wanted: Result<TLSContexts.Options, GRPCStatus>
  ) -> (Result<TLSContext, GRPCStatus>, TLSContexts.Note?) {
    let note: TLSContexts.Note?
    switch wanted {
    case .failure(let status): note = fail(status)
    case .success(let options): note = options == source || options == refused ? nil : use(options)
    }
    if let context { return (.success(context), note) }
    return (.failure(failure ?? .noCertificates), note)
  }

  private mutating func use(_ options: TLSContexts.Options) -> TLSContexts.Note? {
    do throws(GRPCStatus) {
      let made = try options.makeContext()
      let isFirst = context == nil
      (context, source, refused, failure) = (made, options, nil, nil)
      return isFirst ? nil : .replaced(made.remarks)
    } catch {
      refused = options
      return fail(error)
    }
  }

  private mutating func fail(_ status: GRPCStatus) -> TLSContexts.Note? {
    defer { failure = status }
    return context == nil || failure == status ? nil : .refused(status)
  }
}

extension GRPCStatus {
  fileprivate static let noCertificates = GRPCStatus(
    code: .unavailable,
    message: "TLS: there are no certificates yet",
    origin: .library
  )
}
