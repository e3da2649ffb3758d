// text: the page and its headers, which are our own

import ConsolePage
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTransport

/// The page, its script and its style sheet. They are the same for all, and show nothing by themselves.
enum ConsoleAssets {
  /// Whether a browser asks for something to show.
  static func isWanted(by request: HTTPPage.Request) -> Bool {
    let wanted = Array("text/html".utf8)
    let accept = Array((request.headers.first(name: "accept") ?? "").utf8.prefix(1000))
    return accept.indices.contains { accept[$0...].starts(with: wanted) }
  }

  static func pages(at place: ConsolePlace, _ page: HTTPPage.Response) -> [HTTPPage] {
    let style = file("text/css; charset=utf-8", ConsolePage.style)
    let script = file("text/javascript; charset=utf-8", ConsolePage.script)
    return [
      HTTPPage("GET", place.root) { _ in page },
      HTTPPage("GET", place.path("console.css")) { _ in style },
      HTTPPage("GET", place.path("console.js")) { _ in script },
    ]
  }

  static func page(at place: ConsolePlace) -> HTTPPage.Response {
    // The path was checked, and has nothing that means something in HTML.
    let text = ConsolePage.document.split(separator: "{{prefix}}", omittingEmptySubsequences: false)
      .joined(separator: place.prefix)
    return file("text/html; charset=utf-8", text)
  }

  private static func file(_ type: String, _ text: String) -> HTTPPage.Response {
    HTTPPage.Response(contentType: type, headers: .ofConsole, body: text.utf8)
  }
}

extension HTTPPage.Response {
  static func json(_ message: some Message) -> Self {
    do {
      let bytes = try message.jsonUTF8Bytes()
      return HTTPPage.Response(contentType: "application/json", headers: .ofConsole, body: bytes)
    } catch {
      // A message of ours is always written.
      return .text(500, "the answer cannot be written: \(error)")
    }
  }

  static func text(_ status: Int, _ text: String, _ headers: [String: String] = [:]) -> Self {
    var all = HPACKHeaders.ofConsole
    for (name, value) in headers { all.add(name: name, value: value) }
    return HTTPPage.Response(
      status: status,
      contentType: "text/plain; charset=utf-8",
      headers: all,
      body: "\(text)\n".utf8
    )
  }
}

extension HPACKHeaders {
  /// What keeps other sites from showing the page in theirs, and the page from running or asking for what is not ours.
  static let ofConsole = HPACKHeaders([
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("x-frame-options", "DENY"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"), ("vary", "accept"),
  ])
}
