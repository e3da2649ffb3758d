import SwitchboardCall
import SwitchboardText

extension HTTPPage {
  /// Throws if no request can have the page's method and path.
  func checkNames() throws(GRPCStatus) {
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw .invalidOption("the path of a page begins with a slash: \"\(path)\" does not")
    }
    guard FieldSyntax.isToken(method) else {
      throw .invalidOption("\(method.debugDescription) is no HTTP method")
    }
    if let meant = UsualHTTPMethod.inCapitals(method) {
      throw .invalidOption("\"\(method)\" is not a method of HTTP, but \(meant) is")
    }
    guard
      let wrong = path.utf8.first(where: {
        $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      })
    else { return }
    throw .invalidOption(
      "no request has the path of a page, \(path.debugDescription): \(Self.reason(against: wrong))"
    )
  }

  private static func reason(against byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "?"): "the query is no part of it, but in HTTPPage.Request.query"
    case UInt8(ascii: "#"): "clients do not send what follows #"
    default: "it has a character that clients send in percent encoding, such as %20"
    }
  }

  /// What is hardly meant with the page, of a server with these methods.
  func doubt(_ methods: RPCMethods, hasWeb: Bool) -> String? {
    if let meant = UsualHTTPMethod.near(method) { return "no usual method of HTTP: did you mean \(meant)?" }
    if path.utf8.contains(where: { "*{}".utf8.contains($0) }) {
      return "paths are compared as they are: a page has no wildcards and no variables"
    }
    if hasWeb, ["GET", "POST"].contains(method), methods.method(path.utf8) != nil {
      return "the page hides the method of this path from Connect and gRPC-Web"
    }
    return nil
  }
}
