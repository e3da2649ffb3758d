// text: the origins that the program allows

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// The options for calls from HTTP clients: pages in browsers, and others.
///
/// A server with these options accepts calls by gRPC-Web and by Connect in addition to gRPC, over HTTP/2 and HTTP/1.1 on
/// the same port, and answers the CORS preflight requests of browsers.
///
/// ```swift
/// var options = ServerOptions()
/// options.web = WebOptions(origins: .only(["https://app.example"]))
/// ```
public struct WebOptions: Sendable {
  /// The origins whose pages may call.
  public enum Origins: Sendable {
    /// All origins.
    case any
    /// These origins, each in the browsers' form: `https://app.example`, `http://localhost:8080`.
    case only(Set<String>)
  }

  /// The origins whose pages may call. Calls of other pages are rejected; clients other than browsers send no origin
  /// and may call.
  public var origins: Origins
  /// The names of metadata that pages may send, besides what the protocols themselves send. `nil` allows all.
  public var allowedHeaders: [String]?
  /// The names of response headers that pages may read, in addition to gRPC's own.
  public var exposedHeaders: [String] = []
  /// How long a browser may cache the answer to a preflight request.
  public var maxAge = Duration.seconds(7200)
  /// Whether pages may send cookies and the browser's client certificates. Browsers allow that only to origins that are named,
  /// so a server with `any` is not made.
  public var allowsCredentials = false
  /// How long an idle HTTP/1.1 connection stays open.
  public var idleTimeout = Duration.seconds(75)

  typealias DetailJSON = @Sendable (_ type: String, _ value: [UInt8]) -> String?
  /// Converts an error detail, given by the name of its type and its bytes, to JSON, which Connect sends along as
  /// `debug`. Returns `nil` for an unknown type. If the option is `nil`, details are sent only in Base64.
  public var detailJSON: (@Sendable (_ type: String, _ value: [UInt8]) -> String?)?

  /// Allows calls from pages of these origins; by default from none. Clients other than browsers may always call.
  public init(origins: Origins = .only([])) {
    self.origins = origins
  }
}

extension WebOptions: RuledOptions {
  package static let rules: [OptionRule<WebOptions>] = [
    OptionRule(\.maxAge, "maxAge", .atLeast(.zero)),
    OptionRule(
      \.idleTimeout,
      "idleTimeout",
      .above(.zero),
      because: "a connection is idle between two calls"
    ),
  ]

  /// Throws if browsers would not do what the options ask for.
  func refuseAnonymousCredentials() throws(GRPCStatus) {
    guard allowsCredentials, case .any = origins else { return }
    throw .invalidOption(
      "allowsCredentials has no effect for pages of .any origin: browsers allow it only if the origins are named"
    )
  }

  /// Throws if a browser would never send an origin: its pages could not make calls, and would not learn why.
  func refuseWrongOrigins() throws(GRPCStatus) {
    guard case .only(let origins) = origins, let wrong = origins.sorted().first(where: { !Self.isOrigin($0) })
    else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message:
        "\"\(wrong)\" is not an origin as browsers write it: such as https://app.example, in lower case, "
        + "without a path, a wildcard and the scheme's own port, with all four numbers of an address; all origins are .any"
    )
  }

  /// Throws if a name of a header is none: a list of names must not contain anything else.
  func refuseWrongHeaders() throws(GRPCStatus) {
    let names = exposedHeaders + (allowedHeaders ?? [])
    // A star is a name, too.
    guard let wrong = names.first(where: { !FieldSyntax.isToken($0) }) else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message: "\(wrong.debugDescription) is not the name of a header"
    )
  }

  /// Whether pages that have no origin may call, although not all pages may.
  var allowsPagesWithoutOrigin: Bool {
    guard case .only(let origins) = origins else { return false }
    return origins.contains { $0.utf8.elementsEqual("null".utf8) }
  }

  /// Whether it is an origin as browsers write it.
  package static func isOrigin(_ text: String) -> Bool {
    // What pages without an origin send, such as files; those of an app on Android send the other.
    if text == "null" || text == "file://" { return true }
    guard let (scheme, rest) = text.schemeAndRest, !scheme.isEmpty,
      !scheme.utf8.contains(where: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
    else { return false }
    return !rest.contains {
      "/?#*,@\\\"<>^`{|}%".contains($0) || $0.isWhitespace || $0.isUppercase || !$0.isASCII
    }
      && isHostAndPort(rest)
      && !(text.hasPrefix("https:") && rest.hasSuffix(":443"))
      && !(text.hasPrefix("http:") && rest.hasSuffix(":80"))
  }

  /// Whether there is a host, which is an address of IPv6 if it is in brackets, and after a colon the number of a port.
  private static func isHostAndPort(_ text: Substring) -> Bool {
    let isAddress = text.first == "["
    let end = isAddress ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
    guard !isAddress || end != nil else { return false }
    let (host, port) = (text[..<(end ?? text.endIndex)], text[(end ?? text.endIndex)...])
    let isHost =
      isAddress
      ? SocketAddress.numeric(String(host.dropFirst().dropLast()), port: 0) != nil && host.contains(":")
      : !host.isEmpty && !host.contains("]") && !host.contains("[") && !HostAndPort.isShortAddress(host)
    guard isHost, port.first == ":" else { return isHost && port.isEmpty }
    let digits = port.dropFirst()
    return digits.first != "0" && digits.allSatisfy(\.isWholeNumber) && UInt16(digits) != nil
  }
}
