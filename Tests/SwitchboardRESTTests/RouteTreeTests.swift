import SwitchboardHTTPRules
import SwitchboardOpenAPI
import Testing

@testable import SwitchboardREST

@Suite struct RouteTreeTests {
  private func tree(_ rules: [(String, String)]) throws -> RouteTree {
    try RouteTree(
      rules.enumerated().map { index, rule in
        ("m.\(index)", try HTTPBinding(HTTPRule("m.\(index)", rule.0, rule.1)))
      }
    )
  }

  /// The number of the route, or the other methods, or nothing.
  private func find(_ tree: RouteTree, _ method: String, _ path: String) -> String {
    switch tree.match(Array(method.utf8), Array(path.utf8)[...]) {
    case .route(let index, _): "\(index)"
    case .otherMethods(let methods): methods.joined(separator: " ")
    case .none: "none"
    }
  }

  @Test func prefersLiteralsAndBacktracks() throws {
    let tree = try tree([
      ("GET", "/v1/books/new"), ("GET", "/v1/books/{id}"), ("GET", "/v1/{name=**}"),
      ("GET", "/v1/books/new/x"),
      ("GET", "/v1/{shelf}/all"), ("POST", "/v1/books/{id}"), ("GET", "/v1/books/{id}:archive"),
      ("REPORT", "/v1/books"), ("*", "/v2"),
    ])
    for (method, path, expected) in [
      ("GET", "/v1/books/new", "0"), ("GET", "/v1/books/old", "1"), ("GET", "/v1/books/new/y", "2"),
      ("GET", "/v1/books/new/x", "3"), ("GET", "/v1/books/all", "1"), ("GET", "/v1/pens/all", "4"),
      ("POST", "/v1/books/old", "5"), ("GET", "/v1/books/old:archive", "6"),
      ("GET", "/v1/books/old:other", "1"),
      ("GET", "/v1", "2"), ("GET", "/v1/", "2"), ("PUT", "/v1/books/x", "GET POST"),
      ("REPORT", "/v1/books", "7"),
      ("ANY", "/v2", "8"), ("GET", "/", "none"), ("GET", "*", "none"), ("GET", "", "none"),
      ("GET", "/V1", "none"),
      ("GET", "/%76%31", "none"), ("GET", "/v1//all", "2"), ("POST", "/v1/../v1", "GET"),
    ] { #expect(find(tree, method, path) == expected, "\(method) \(path)") }
  }

  @Test func aConflictNamesBothRules() throws {
    let error = #expect(throws: HTTPRuleError.self) {
      try tree([("GET", "/v1/{name=shelves/*}"), ("POST", "/v1/shelves/{id}"), ("GET", "/v1/shelves/{id}")])
    }
    #expect(
      error?.description == "m.0 (GET /v1/{name=shelves/*}) and m.2 (GET /v1/shelves/{id}) have the same path"
    )
  }

  /// A path of the largest size is looked up in one go through it.
  @Test func findsTheRouteOfALongPath() throws {
    let tree = try tree([("GET", "/{name=**}"), ("GET", "/a/*/a/*/a/*/b"), ("GET", "/*/a/*/a/*/a/c")])
    #expect(find(tree, "GET", String(repeating: "/a", count: 500_000)) == "0")
  }
}
