import SwitchboardText
public import SwitchboardTransport

/// Who may see a console.
public enum ConsoleAccess: Sendable {
  /// Whoever has a token that the console makes when it is created. The log says it with the address of the page.
  case madeToken
  /// Whoever has this token, of at least 16 characters: letters, digits and `-._~+/=`.
  case token(String)
  /// Those whose requests this accepts, such as by a client's certificate (`request.peer`) or by a header that a proxy sets. The
  /// page sends no token then. It is asked for each request of a view, and must not block.
  case requests(@Sendable (HTTPPage.Request) async -> Bool)
}

extension ConsoleAccess {
  /// Decides on requests.
  struct Check: Sendable {
    /// The token, if the console made it.
    let madeToken: String?
    /// Whether the program decides, so that no token helps.
    let isOfProgram: Bool
    private let isAllowed: @Sendable (HTTPPage.Request) async -> Bool

    fileprivate init(
      madeToken: String? = nil,
      isOfProgram: Bool = false,
      _ isAllowed: @escaping @Sendable (HTTPPage.Request) async -> Bool
    ) {
      self.madeToken = madeToken
      self.isOfProgram = isOfProgram
      self.isAllowed = isAllowed
    }

    /// The answer to a request that may not see the views; `nil` if it may.
    func refusal(of request: HTTPPage.Request) async -> HTTPPage.Response? {
      // Browsers add these to what other sites ask for, and no site can leave them out.
      let sites = request.headers["sec-fetch-site"]
      let isOthers = sites.contains { site in !["same-origin", "none"].contains { site.isExactly($0) } }
      // The page itself has an origin when it asks for more than a view. Where there is neither TLS nor loopback, browsers do not
      // say whether it is the same.
      let isOwn = sites.contains { $0.isExactly("same-origin") }
      guard !isOthers, isOwn || request.headers["origin"].isEmpty else {
        return .text(
          403,
          "the console answers no requests of other sites; without TLS, the page can only do something for this machine"
        )
      }
      guard await isAllowed(request) else {
        if isOfProgram { return .text(403, "the program does not let this request see the console") }
        return .text(
          401,
          "the console asks for its token: Authorization: Bearer TOKEN",
          ["www-authenticate": "Bearer"]
        )
      }
      return nil
    }
  }

  func check() -> Check {
    switch self {
    case .madeToken:
      let token = ConsoleToken.made()
      return Check(madeToken: token) { ConsoleToken(token).opens($0) }
    case .token(let token): return Check { ConsoleToken(token).opens($0) }
    case .requests(let isAllowed): return Check(isOfProgram: true, isAllowed)
    }
  }
}
