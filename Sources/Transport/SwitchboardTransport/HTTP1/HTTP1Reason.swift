// text: the status codes that the server sends

/// The reason phrase in the first line of a response. It has no meaning, but some clients expect one.
enum HTTP1Reason {
  private static let words: [String: String] = [
    "200": "OK", "201": "Created", "202": "Accepted", "204": "No Content", "206": "Partial Content",
    "301": "Moved Permanently", "302": "Found", "303": "See Other", "304": "Not Modified",
    "307": "Temporary Redirect", "308": "Permanent Redirect",
    "400": "Bad Request", "401": "Unauthorized", "403": "Forbidden", "404": "Not Found",
    "405": "Method Not Allowed", "406": "Not Acceptable", "408": "Request Timeout", "409": "Conflict",
    "410": "Gone", "412": "Precondition Failed", "413": "Content Too Large", "414": "URI Too Long",
    "415": "Unsupported Media Type", "417": "Expectation Failed",
    "421": "Misdirected Request", "429": "Too Many Requests",
    "431": "Request Header Fields Too Large", "499": "Client Closed Request",
    "500": "Internal Server Error", "501": "Not Implemented", "502": "Bad Gateway",
    "503": "Service Unavailable",
    "504": "Gateway Timeout", "505": "HTTP Version Not Supported",
  ]

  static func of(_ status: String) -> String { words[status] ?? "Other" }
}
