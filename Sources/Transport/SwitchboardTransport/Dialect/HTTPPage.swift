// unsafe: bodies that a session lends until its connection has processed them
// text: the program's pages; an HTTP method is a token

import SwitchboardCall

/// A plain HTTP answer on a server's port, for one path: a page of metrics, a document, a probe.
///
/// ```swift
/// var options = ServerOptions()
/// options.pages = [HTTPPage("GET", "/alive") { _ in HTTPPage.Response(contentType: "text/plain", body: "yes".utf8) }]
/// ```
/// The path is compared as it was sent, up to the query: nothing is decoded. A `GET` page answers `HEAD` too, without
/// its body. The whole request is read before the handler runs, within the server's `requestTimeout`; a body larger
/// than `bodyLimit` is rejected with 413, and one with 429 while the larger bodies of the connection are more than 1 MiB
/// together, and more than `bodyLimit`. The client must read the response within the same time. While a server makes
/// 256 pages, it makes further ones only for connections without any, and answers other requests with 503. A handler is
/// cancelled when its client resets the stream or the connection; a client of HTTP/1.1 that only ends its side may still
/// read, and gets its answer. An HTTP method that neither a page nor another protocol supports at the path is rejected with
/// 405, and a `GET` of a path that has neither page nor method with 404. A page is not a call:
/// interceptors do not see it.
public struct HTTPPage: Sendable {
  /// A whole request.
  public struct Request: Sendable {
    /// The HTTP method, such as `GET`.
    public var method: String
    /// The path as it was sent, without the query.
    public var path: String
    /// The query: the text after the question mark, as it was sent.
    public var query: String?
    /// The headers, without those of the connection.
    public var headers: HPACKHeaders
    /// The body, empty without one.
    public var body: [UInt8]
    /// The client.
    public var peer: PeerIdentity
  }

  /// A whole response.
  public struct Response: Sendable {
    /// The HTTP status, from 200 to 599.
    let status: Int
    /// The headers; those that the connection writes itself are left out.
    let headers: HPACKHeaders
    /// The body; its length is sent. Copies of the response share it.
    let body: MessageBuffer

    /// A response with a content type and a body, or without either. If HTTP does not allow the content type, the status
    /// 500 is sent instead.
    public init(
      status: Int = 200,
      contentType: String? = nil,
      headers: HPACKHeaders = HPACKHeaders(),
      body: some Sequence<UInt8> = []
    ) {
      self.status = status
      self.headers = headers
      self.contentType = contentType.map { Array($0.utf8) }
      self.body = body.withContiguousStorageIfAvailable { MessageBuffer($0) } ?? MessageBuffer(Array(body))
    }

    let contentType: [UInt8]?

    /// Whether HTTP allows the content type, which may come from whoever made the content.
    var hasValidContentType: Bool {
      contentType?.withUnsafeBufferPointer(FieldSyntax.isStrictValue) ?? true
    }
  }

  typealias Handler = @Sendable (Request) async -> Response

  let method: String
  let path: String
  /// The largest body of a request.
  let bodyLimit: Int
  /// Whether the answer does not depend on the body, which may then have any size and is not kept.
  package var ignoresBody = false
  let handler: Handler
  /// Called with the host when the server listens where others can read the page on its way: on an address that is not this
  /// machine's alone, without TLS.
  package var wasExposed: (@Sendable (String) -> Void)?

  /// Creates a page for requests with this HTTP method and path, such as `GET` and `/metrics`. `handler` makes the
  /// response. It runs on the loop of the connection, or where the standard of the server's `handlerPlacements` is.
  public init(
    _ method: String,
    _ path: String,
    bodyLimit: Int = 64 * 1024,
    _ handler: @escaping @Sendable (Request) async -> Response
  ) {
    self.method = method
    self.path = path
    self.bodyLimit = bodyLimit
    self.handler = handler
  }

  /// Whether it answers requests with this HTTP method.
  func answers(_ httpMethod: String) -> Bool {
    httpMethod == method || httpMethod == "HEAD" && method == "GET"
  }
}

/// The pages of a server, by their paths.
struct HTTPPages: Sendable {
  private let pages: [[UInt8]: [HTTPPage]]

  /// Throws if two pages have the same HTTP method and path, or if no request can have a page's.
  init(_ pages: [HTTPPage]) throws(GRPCStatus) {
    var known: Set<String> = []
    for page in pages {
      try page.checkNames()
      let name = "\(page.method) \(page.path)"
      guard known.insert(name).inserted else {
        throw GRPCStatus(code: .invalidArgument, message: "two pages have the same path: \(name)")
      }
    }
    self.pages = Dictionary(grouping: pages) { Array($0.path.utf8) }
  }

  /// The pages with this path, which differ in their HTTP methods.
  func at(_ path: some Collection<UInt8>) -> [HTTPPage] {
    pages.isEmpty ? [] : pages[Array(path)] ?? []
  }
}

/// Answers requests for pages. With another HTTP method, the same path may belong to another protocol.
final class PageProtocol: Dialect {
  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    let method = request.httpMethod
    return methods.pages.at(request.path).last { $0.answers(method) }.map { .page($0) }
  }
}

/// Rejects requests for the path of a page whose HTTP method neither a page nor another protocol supports, and for paths
/// without a page. It is tried after those.
final class OtherMethodOfPage: Dialect {
  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    let (path, method) = (request.path, request.httpMethod)
    guard request.method == nil else { return nil }
    let here = methods.pages.at(path)
    guard here.isEmpty else {
      let allowed = Set(here.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] }).sorted()
      let headers = HPACKHeaders([("allow", allowed.joined(separator: ", "))])
      return .page(.refusing(method, 405, headers, "the page has no \(method)"))
    }
    guard ["GET", "HEAD"].contains(method), methods.method(path) == nil else { return nil }
    return .page(.refusing(method, 404, HPACKHeaders(), "there is no page at this path"))
  }
}

extension HTTPPage {
  fileprivate static func refusing(
    _ method: String,
    _ status: Int,
    _ headers: HPACKHeaders,
    _ reason: String
  ) -> HTTPPage {
    let type = "text/plain; charset=utf-8"
    var page = HTTPPage(method, "") { _ in
      Response(status: status, contentType: type, headers: headers, body: "\(reason)\n".utf8)
    }
    page.ignoresBody = true
    return page
  }
}
