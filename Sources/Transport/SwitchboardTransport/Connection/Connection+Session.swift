// unsafe: a session that its connection retains is lent for one call, without counting a reference

import SwitchboardCall

extension ConnectionParts {
  /// The session of HTTP/2, for what only that has; `nil` before it is spoken.
  final var http2: Session? { http2Link?.takeUnretainedValue() }

  final var headers: HeaderWriter { parts.headers }

  /// The number of open streams.
  final var openStreams: Int { parts.streams.count }
}

// Each of these is inlined, so that calls of both versions are direct. `body` is not called, and `nil` returned, while no
// version is spoken yet; streams exist only later.

extension Connection {
  /// Calls `body` with the session of the version that is spoken.
  @inline(__always) @discardableResult
  func withSession<Result>(_ body: (any HTTPSession) -> Result) -> Result? {
    if let http2Link { return http2Link._withUnsafeGuaranteedRef { body($0) } }
    return http1.map { body($0) }
  }

  /// Whether it is known which version is spoken.
  var isDecided: Bool { http2Link != nil || http1 != nil }

  /// Begins HTTP/2. Closes the connection if there is no memory for that.
  func speakHTTP2(as role: Session.Role, _ settings: SessionSettings) {
    guard let session = Session(role, settings: settings, memory: loop.blocks, parts) else {
      return close(.noMemoryForConnection)
    }
    http2Link = .passRetained(session)
    session.delegate = self
    session.join(loop.sweep)
  }
}

extension Connection where HTTP1: HTTPServerSession {
  /// The same for what only servers ask.
  @inline(__always) @discardableResult
  func withServerSession<Result>(_ body: (any HTTPServerSession) -> Result) -> Result? {
    if let http2Link { return http2Link._withUnsafeGuaranteedRef { body($0) } }
    return http1.map { body($0) }
  }

  /// The largest header block that can be sent, as HTTP/2 counts its size.
  var headerListLimit: Int { withServerSession { $0.headerListLimit } ?? .max }
}

extension Connection where HTTP1: HTTPClientSession {
  /// The same for what only clients ask.
  @inline(__always) @discardableResult
  func withClientSession<Result>(_ body: (any HTTPClientSession) -> Result) -> Result? {
    if let http2Link { return http2Link._withUnsafeGuaranteedRef { body($0) } }
    return http1.map { body($0) }
  }
}

extension Connection {
  /// Why the written headers cannot be sent, if they cannot.
  var refusalOfHeaders: GRPCStatus? { withSession { $0.refusalOfHeaders } ?? nil }
}
