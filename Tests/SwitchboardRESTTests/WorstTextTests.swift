import RESTService
import Switchboard
import SwitchboardProtobuf
import SwitchboardREST
import TestSupport
import Testing

/// The worst text of Unicode in paths, parameters and bodies takes a time in proportion to its length.
@Suite struct WorstTextTests {
  private static let places: [(name: String, work: @Sendable (String) throws -> Void)] = [
    ("a path", { _ = try RESTFixture.request("GET", "/v1/simple/\($0)") }),
    ("a literal of a path", { _ = try RESTFixture.request("GET", "/v1/s\($0)/x") }),
    ("a verb", { _ = try RESTFixture.request("GET", "/v1/simple/fixed:\($0)") }),
    ("a parameter", { _ = try RESTFixture.request("GET", "/v1/simple/x?\($0)=1") }),
    ("parts of a parameter", { _ = try RESTFixture.request("GET", "/v1/simple/x?inner.\($0).\($0)=1") }),
    ("a string", { _ = try RESTFixture.request("GET", "/v1/simple/x?name=\($0)") }),
    ("a number", { _ = try RESTFixture.request("GET", "/v1/simple/x?int32=\($0)") }),
    ("an enum", { _ = try RESTFixture.request("GET", "/v1/simple/x?color=\($0)") }),
    ("a bool", { _ = try RESTFixture.request("GET", "/v1/simple/x?bool=t\($0)") }),
    ("a time", { _ = try RESTFixture.request("GET", "/v1/simple/x?time=\($0)") }),
  ]

  @Test(arguments: places.indices, WorstText.allCases)
  func textTakesLinearTime(place: Int, text: WorstText) {
    let (name, work) = Self.places[place]
    Growth.check("\(name): \(text)", text.text) { try? work($0) }
  }
}
