import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct RequestOriginTests {
  private static let good: HPACKHeaders = ["origin": "http://good"]
  private static let bad: HPACKHeaders = ["origin": "http://bad"]
  private static let preflight: HPACKHeaders = [
    "origin": "http://good", "access-control-request-method": "POST",
  ]

  private func rules() throws -> CrossOrigin { try CrossOrigin(WebOptions(origins: .only(["http://good"]))) }

  private func fields(_ origin: RequestOrigin, _ request: HPACKHeaders) -> [String: String] {
    let headers = HeaderWriter()
    origin.addResponse(to: request, into: headers)
    var fields: [String: String] = [:]
    headers.forEachField { name, value in
      fields[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    return fields
  }

  @Test func withoutRulesNothingIsDecided() {
    var origin = RequestOrigin(rules: nil)
    origin.isThere()
    origin.methodIsOptions()
    #expect(!origin.isRefused(Self.bad) && !origin.isPreflight(Self.preflight))
    #expect(fields(origin, Self.good) == [:])
  }

  @Test func onlyAllowedOriginsPass() throws {
    let origin = RequestOrigin(rules: try rules())
    #expect(origin.isRefused(Self.bad) && origin.decides(Self.bad))
    #expect(!origin.isRefused(Self.good) && !origin.decides(Self.good) && !origin.isRefused([:]))
  }

  @Test func onlyOptionsIsAPreflight() throws {
    var origin = RequestOrigin(rules: try rules())
    #expect(!origin.isPreflight(Self.preflight))
    origin.methodIsOptions()
    #expect(origin.isPreflight(Self.preflight) && origin.decides(Self.preflight))
    #expect(!origin.isPreflight(Self.good))
  }

  /// Caches learn in any case that the response depends on the origin.
  @Test func aPageMayReadTheResponseToItsRequest() throws {
    var origin = RequestOrigin(rules: try rules())
    #expect(fields(origin, Self.good) == ["vary": "origin"])
    origin.isThere()
    #expect(fields(origin, Self.good)["access-control-allow-origin"] == "http://good")
  }
}
