import SwitchboardCall

/// Whether a page of a web site has sent a request, and what the server's rules for pages say of it.
struct RequestOrigin {
  /// The rules, if pages may call at all.
  let rules: CrossOrigin?
  /// Whether the request has the header `origin`.
  private(set) var isNamed = false
  private var isOptions = false

  init(rules: CrossOrigin?) { self.rules = rules }

  mutating func isThere() { isNamed = true }

  /// The HTTP method is `OPTIONS`, that of preflight requests.
  mutating func methodIsOptions() { isOptions = true }

  /// Whether the rules refuse pages of this origin.
  func isRefused(_ headers: HPACKHeaders) -> Bool { !(rules?.allows(headers) ?? true) }

  /// Whether a browser asks what a page may do.
  func isPreflight(_ headers: HPACKHeaders) -> Bool {
    isOptions && rules != nil && CrossOrigin.isPreflight(headers)
  }

  /// Whether the rules decide a request with an origin, so that no dialect receives it.
  func decides(_ headers: HPACKHeaders) -> Bool { isPreflight(headers) || isRefused(headers) }

  /// Adds the headers that let a page of another origin read the response.
  func addResponse(to request: HPACKHeaders, into headers: HeaderWriter) {
    if isNamed { rules?.addResponse(to: request, into: headers) } else { rules?.addVary(into: headers) }
  }
}
