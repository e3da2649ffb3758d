import EchoTestSupport
import Switchboard
import TestSupport
import Testing

/// JSON that a `Codable` type does not take: the peer learns where, and nothing about the type.
@Suite struct CodableFailureTests {
  private struct Order: Codable, Sendable {
    struct Item: Codable, Sendable {
      var name: String
      var count: Int
      var isGift: Bool?
    }

    var items: [Item]
    var notes: [String: String]?
  }

  @Test(
    arguments: [
      (#"{"items":[{"name":"a","count":1},{"name":"b"}]}"#, "items[1].count is missing"),
      (#"{"items":[{"name":null,"count":1}]}"#, "items[0].name is null or missing"),
      (#"{"items":[{"name":7,"count":1}]}"#, "items[0].name is not a string"),
      (#"{"items":[{"name":"a","count":"one"}]}"#, "items[0].count is not a number"),
      (#"{"items":[{"name":"a","count":1,"isGift":3}]}"#, "items[0].isGift is not true or false"),
      (#"{"items":3}"#, "items is not a list"),
      (#"{"items":[4]}"#, "items[0] is not an object"),
      (#"[]"#, "the message is not an object"),
      (#"{"items":[{"name":"a","count":1e99}]}"#, "it is not valid JSON, or has a number out of range"),
      (#"{"items":"#, "it is not valid JSON, or has a number out of range"),
    ]
  )
  func theMessageNamesTheLocation(_ sample: (json: String, message: String)) throws {
    let bytes = Array(sample.json.utf8)
    do {
      _ = try CodableJSONMarshaller<Order>().decode(bytes.span.bytes)
      Issue.record("\(sample.json) was decoded")
    } catch let status as GRPCStatus {
      #expect(status.message == sample.message)
    }
  }

  /// Foundation makes a dictionary of the members of each object.
  @Test(arguments: WorstText.allCases) func textTakesLinearTime(text: WorstText) {
    func json(_ size: Int) -> [UInt8] { Array(#"{"items":[],"\#(text.text(size))":1}"#.utf8) }
    Growth.check("\(text)", json) { bytes in
      _ = try? CodableJSONMarshaller<Order>().decode(bytes.span.bytes)
    }
  }

  @Test(arguments: [#"\u0301"#, "\u{301}", #"\ud834\udd65"#, "\u{1D165}"])
  func longRunsOfMarksAreRefused(mark: String) throws {
    func decode(_ count: Int) throws -> Order {
      let key = "k" + String(repeating: mark, count: count)
      return try CodableJSONMarshaller<Order>().decode(
        Array(#"{"items":[],"notes":{"\#(key)":"\n"}}"#.utf8).span.bytes
      )
    }
    #expect(try decode(64).notes?.count == 1)
    let status = #expect(throws: GRPCStatus.self) { try decode(65) }
    #expect(status?.code == .invalidArgument)
    #expect(status?.message?.contains("more than 64 combining marks in a row") == true)
  }

  /// Foundation would convert it, and so not see the same characters.
  @Test func otherEncodingsAreRefused() {
    let bytes = #"{"items":[]}"#.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let status = #expect(throws: GRPCStatus.self) {
      try CodableJSONMarshaller<Order>().decode(bytes.span.bytes)
    }
    #expect(status?.code == .invalidArgument)
  }

  @Test func longLocationsAreCut() throws {
    let key = String(repeating: "k", count: 5000)
    let bytes = Array(#"{"items":[],"notes":{"\#(key)":1}}"#.utf8)
    do {
      _ = try CodableJSONMarshaller<Order>().decode(bytes.span.bytes)
      Issue.record("it was decoded")
    } catch let status as GRPCStatus {
      #expect(status.message?.utf8.count ?? 0 < 300)
    }
  }
}
