import Testing

@testable import SwitchboardConsole

/// What requests may ask of views.
@Suite struct ViewQueryTests {
  @Test func aQueryIsRead() throws {
    let query = try ViewQuery(
      "side=client&sort=p99&filter=Ge%74&from=10&count=7&selected=a.B%2FC&target=dns%3A&closed=server-1&closed=channel-2"
    )
    #expect(query.side == .client)
    #expect(query.order == .p99)
    #expect(query.filter == Array("get".utf8))
    #expect((query.from, query.count) == (10, 7))
    #expect(query.selected == Array("a.B/C".utf8))
    #expect(query.target == Array("dns:".utf8))
    #expect(query.closed == [Array("server-1".utf8), Array("channel-2".utf8)])
    #expect(Array(query.part(of: Array(0..<100))) == Array(10..<17))
    #expect(query.part(of: [1]).isEmpty)
  }

  @Test(arguments: [nil, ""])
  func withoutAQueryTheFirstLinesAreMeant(_ text: String?) throws {
    #expect(try ViewQuery(text) == ViewQuery(nil))
    #expect(Array(try ViewQuery(text).part(of: Array(0..<100))) == Array(0..<50))
  }

  @Test(arguments: [
    ("side=both", "side is one of: server, client"),
    ("sort=", "sort is one of: rate, errors, p99, name, in_flight"),
    ("from=-1", "from is a number from 0 to 2147483647"),
    ("from=99999999999999999999", "from is a number from 0 to 2147483647"),
    ("count=201", "count is a number from 0 to 200"), ("count=1.5", "count is a number from 0 to 200"),
    (
      "fliter=x",
      "no view knows 'fliter': use side, sort, kind, bucket, filter, from, count, selected, target and closed"
    ),
  ])
  func aMistakeSaysWhatIsMeant(_ sample: (text: String, message: String)) {
    let mistake = #expect(throws: ViewQuery.Mistake.self) { try ViewQuery(sample.text) }
    #expect(mistake?.text == sample.message)
  }

  @Test func aQueryIsBounded() {
    #expect(throws: ViewQuery.Mistake.self) { try ViewQuery("filter=" + String(repeating: "x", count: 5000)) }
    let many = Array(repeating: "closed=a", count: 101).joined(separator: "&")
    #expect(throws: Never.self) { try ViewQuery(many) }
    let different = (0...100).map { "closed=\($0)" }.joined(separator: "&")
    #expect(throws: ViewQuery.Mistake.self) { try ViewQuery(different) }
  }

  @Test(arguments: [
    ("", "anything", true), ("get", "echo.Echo/Get", true), ("GET", "echo.Echo/get", true),
    ("echo.Echo/Get", "echo.Echo/Get", true), ("gets", "echo.Echo/Get", false), ("x", "", false),
    ("%C3%A9", "caf\u{e9}", true),
  ])
  func aFilterFindsPartsOfNames(_ sample: (filter: String, name: String, isFound: Bool)) throws {
    #expect(try ViewQuery("filter=\(sample.filter)").includes(sample.name) == sample.isFound)
  }

  @Test(arguments: [
    "server-1", "listener-1-2", "connection-3-12", "socket-1-9", "subchannel-2-4", "channel-7", "policy-7",
  ])
  func theNameOfALineIsReadAsItIsWritten(_ text: String) {
    #expect(NodeID(Array(text.utf8))?.text == text)
  }

  @Test(arguments: [
    "", "server", "server-", "server-x", "tree-1", "server-1-2-3", "server-99999999999999999999", "-1",
  ])
  func whatNamesNoLine(_ text: String) {
    #expect(NodeID(Array(text.utf8)) == nil)
  }
}
