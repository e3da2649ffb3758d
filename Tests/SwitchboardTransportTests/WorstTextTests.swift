import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The worst text of Unicode in headers, paths, queries and errors takes a time in proportion to its length.
@Suite struct WorstTextTests {
  private static let places: [(name: String, work: @Sendable (String) throws -> Void)] = [
    (
      "a compression",
      { _ = Array("gzip\($0)".utf8).withUnsafeBufferPointer { MessageCompression(named: $0) } }
    ),
    (
      "accepted compressions",
      { text in
        var accepted = AcceptedCompressions()
        Array("gzip;q=0\(text),\(text);q=0,gzip".utf8).withUnsafeBufferPointer { accepted.add($0) }
        #expect(accepted == AcceptedCompressions(.gzip))
      }
    ),
    ("a subtype", { _ = ContentSubtype($0) }),
    ("a media type", { _ = request(type: "application/\($0)").mayBeConnect }),
    ("a query", { _ = ConnectQuery(Array("connect=\($0)&encoding=\($0)&\($0)=1&compression=\($0)".utf8)) }),
    (
      "headers of Connect",
      { text in
        let headers = HPACKHeaders([
          ("connect-protocol-version", "1\(text)"), ("content-encoding", "g\(text)"),
        ])
        let own = ConnectHeaders(headers, isStream: false)
        #expect(own.failure != nil)
      }
    ),
    (
      "an origin",
      { text in
        let web = try CrossOrigin(WebOptions(origins: .only(["https://app.example"])))
        #expect(!web.allows(HPACKHeaders([("origin", "https://app.example\(text)")])))
      }
    ),
    (
      "trailers for Connect",
      { text in
        let error = ConnectError(describe: nil)
        _ = error.endOfStream(.ok, HPACKHeaders([("n", text), ("n", text)]))
      }
    ),
    (
      "an error of Connect",
      { text in
        let json = "{\"code\":\"n\(text)\",\"message\":\"\(text)\",\"details\":[{\"type\":\"\(text)\"}]}"
        let status = ConnectErrorReader.status(Array(json.utf8), else: .ok)
        #expect(status.message?.utf8.count == text.utf8.count)
        #expect(status == ConnectErrorReader.status(Array(json.utf8), else: .ok))
        #expect(status != GRPCStatus(code: status.code, message: "\(text)\u{301}", origin: .peer))
        _ = status.hashValue
      }
    ),
    (
      "names in an error of Connect",
      { _ = ConnectErrorReader.status(Array("{\"\($0)\":1,\"\($0)x\":2}".utf8), else: .ok) }
    ),
  ]

  private static func request(type: String) -> DialectRequest {
    var request = DialectRequest()
    request.contentType = Array(type.utf8)
    return request
  }

  @Test(arguments: places.indices, WorstText.allCases)
  func textTakesLinearTime(place: Int, text: WorstText) {
    let (name, work) = Self.places[place]
    Growth.check("\(name): \(text)", text.text) { try? work($0) }
  }
}
