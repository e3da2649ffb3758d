import SwitchboardCall
import SwitchboardText

/// Implements CORS, the rules for pages of other origins. Shared by all calls of a server.
final class CrossOrigin: Sendable {
  let options: WebOptions
  /// The origins whose pages may call; nil if all may.
  private let origins: Set<ExactText>?
  private let exposedHeaders: String
  private let allowedHeaders: String?
  private let maxAge: String

  /// What clients of gRPC-Web and of Connect send in browsers: without these, they could make no calls.
  private static let ownRequestHeaders = [
    "content-type", "x-grpc-web", "x-user-agent", "grpc-timeout", "connect-protocol-version",
    "connect-timeout-ms",
  ]

  init(_ options: WebOptions) throws(GRPCStatus) {
    try options.refuseWrongOrigins()
    try options.refuseAnonymousCredentials()
    try options.refuseWrongHeaders()
    self.options = options
    origins = if case .only(let origins) = options.origins { Set(origins.map(ExactText.init)) } else { nil }
    let own = ["grpc-status", "grpc-message", "grpc-status-details-bin"]
    exposedHeaders = (own + options.exposedHeaders).joined(separator: ",")
    allowedHeaders = options.allowedHeaders.map { (Self.ownRequestHeaders + $0).joined(separator: ",") }
    maxAge = String(options.maxAge.components.seconds)
  }

  /// Whether a request with these headers may be answered.
  func allows(_ headers: HPACKHeaders) -> Bool {
    guard let origin = headers.first(name: "origin") else { return true }
    return origins?.contains(origin) ?? true
  }

  /// Whether this is a preflight request: a browser asks what a page may do before the page may do it.
  static func isPreflight(_ headers: HPACKHeaders) -> Bool {
    headers.contains(name: "origin") && headers.contains(name: "access-control-request-method")
  }

  /// Adds the headers that let the page read the response.
  func addResponse(to request: HPACKHeaders, into headers: HeaderWriter) {
    guard addOrigin(of: request, into: headers) else { return }
    headers.add("access-control-expose-headers", exposedHeaders.utf8)
  }

  /// Adds the headers that answer a preflight request.
  func addPreflight(to request: HPACKHeaders, into headers: HeaderWriter) {
    guard addOrigin(of: request, into: headers) else { return }
    headers.add("access-control-allow-methods", Self.allowedMethod(of: request).utf8)
    if let names = allowedHeaders ?? request.first(name: "access-control-request-headers") {
      headers.add("access-control-allow-headers", names.utf8)
    }
    headers.add("access-control-max-age", maxAge.utf8)
  }

  /// The method that the page wants to use, if it is a standard one, or else POST. Whether the path supports it is
  /// decided when the request itself arrives.
  private static func allowedMethod(of request: HPACKHeaders) -> String {
    let wanted = request.first(name: "access-control-request-method") ?? ""
    return ["GET", "HEAD", "PUT", "PATCH", "DELETE"].contains(where: wanted.isExactly) ? wanted : "POST"
  }

  /// Tells caches that the response depends on the origin, if it does.
  func addVary(into headers: HeaderWriter) {
    if case .only = options.origins { headers.add("vary", "origin") }
  }

  private func addOrigin(of request: HPACKHeaders, into headers: HeaderWriter) -> Bool {
    addVary(into: headers)
    guard let origin = request.first(name: "origin") else { return false }
    switch options.origins {
    case .any:
      headers.add("access-control-allow-origin", "*")
    case .only:
      headers.add("access-control-allow-origin", origin.utf8)
      if options.allowsCredentials { headers.add("access-control-allow-credentials", "true") }
    }
    return true
  }
}
