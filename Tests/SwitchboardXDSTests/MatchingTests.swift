import SwitchboardBalancing
import SwitchboardCall
import SwitchboardPatterns
import Testing

@testable import SwitchboardXDS

@Suite struct MatchingTests {
  private let get = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)

  private func matches(_ rule: TextRule, _ text: String, ignoringCase: Bool = false) -> Bool {
    Array(text.utf8).withUnsafeBufferPointer { rule.matches($0, ignoringCase: ignoringCase) }
  }

  private func rule(_ make: ([UInt8]) -> TextRule, _ text: String) -> TextRule { make(Array(text.utf8)) }

  @Test func textsMatchByTheirBytes() {
    #expect(matches(rule(TextRule.exact, "ab"), "ab") && !matches(rule(TextRule.exact, "ab"), "abc"))
    #expect(matches(rule(TextRule.prefix, "ab"), "abc") && !matches(rule(TextRule.prefix, "abc"), "ab"))
    #expect(matches(rule(TextRule.suffix, "bc"), "abc") && !matches(rule(TextRule.suffix, "bc"), "c"))
    #expect(
      matches(rule(TextRule.contains, "aab"), "aaaab") && !matches(rule(TextRule.contains, "aab"), "aaa")
    )
    #expect(matches(rule(TextRule.contains, ""), "") && matches(rule(TextRule.prefix, ""), "x"))
    #expect(matches(rule(TextRule.exact, "ab"), "AB", ignoringCase: true))
    // Two ways to write é are two texts.
    #expect(!matches(rule(TextRule.exact, "\u{e9}"), "e\u{301}"))
  }

  @Test func aPatternIsForAllOfAText() throws {
    let rule = TextRule.pattern(try Pattern("/echo[.]Echo/(Get|Update)"))
    #expect(matches(rule, "/echo.Echo/Get") && !matches(rule, "/echo.Echo/GetAll"))
    // With regard to case, whatever else is said of it.
    #expect(!matches(rule, "/echo.echo/Get", ignoringCase: true))
    var match = RouteMatch(path: rule)
    #expect(match.matches(get, HPACKHeaders()) { 0 })
    match.headers = [
      HeaderRule(
        name: Array("k".utf8),
        test: .text(.pattern(try Pattern("a,.*")), ignoresCase: false),
        isInverted: false
      )
    ]
    #expect(match.matches(get, HPACKHeaders([("k", "a"), ("k", "b")])) { 0 })
    #expect(!match.matches(get, HPACKHeaders([("k", "b"), ("k", "a")])) { 0 })
    #expect(!match.matches(get, HPACKHeaders()) { 0 })
  }

  /// The hash of a call is that of what a pattern makes of a field.
  @Test func aFieldIsRewrittenBeforeItIsHashed() throws {
    func hash(_ rewrite: Substitution?, _ value: String?) throws -> UInt64? {
      let source = HashRule.Source.header(MetadataField(name: Array("user".utf8)), rewrite: rewrite)
      var action = RouteAction(clusters: [.init(name: "c", weight: 1)])
      action.hash = [HashRule(source: source, isTerminal: false)]
      let host = VirtualHost(
        domains: [],
        routes: [Route(match: RouteMatch(path: .prefix([])), action: action)]
      )
      let router = MeshRouter(host, [], maxStreamDuration: nil, channel: 0) { _ in ClusterLease {} }
      let metadata = HPACKHeaders(value.map { [("user", $0)] } ?? [])
      return try router.route(get, metadata).hash?(metadata)
    }
    let rewrite = try Substitution(of: Pattern("^([^/]*)/.*$"), by: "user \\1")
    #expect(try hash(rewrite, "ann/7") == hash(nil, "user ann"))
    #expect(
      try hash(rewrite, "ann/7") == hash(rewrite, "ann/8") && hash(rewrite, "ann/7") != hash(rewrite, "bo/7")
    )
    // What does not match stays.
    #expect(try hash(rewrite, "ann") == hash(nil, "ann") && hash(rewrite, nil) == nil)
  }

  /// The search for a part of a text: the same as the obvious one.
  @Test func aPartIsFoundWhereverItIs() {
    var dice = Dice(seed: 4)
    for _ in 0..<3000 {
      let text = String((0..<dice.below(12)).map { _ in dice.below(2) == 0 ? "a" : "b" })
      let part = String((0..<dice.below(5)).map { _ in dice.below(2) == 0 ? "a" : "b" })
      let isThere = (0...text.count).contains { text.dropFirst($0).hasPrefix(part) }
      #expect(matches(rule(TextRule.contains, part), text) == isThere, "\(part) in \(text)")
    }
  }

  private func header(_ test: HeaderRule.Test, _ fields: [(String, String)], isInverted: Bool = false) -> Bool
  {
    HeaderRule(name: Array("k".utf8), test: test, isInverted: isInverted).matches(HPACKHeaders(fields))
  }

  @Test func headersMatch() {
    #expect(
      header(.text(.exact(Array("a,b".utf8)), ignoresCase: false), [("k", "a"), ("x", "y"), ("k", "b")])
    )
    #expect(header(.present(true), [("k", "")]) && !header(.present(true), []))
    #expect(header(.present(false), []) && header(.present(true), [], isInverted: true))
    #expect(header(.range(-5..<7), [("k", "-5")]) && !header(.range(-5..<7), [("k", "7")]))
    for odd in ["", "-", "+1", "1.0", " 1", "99999999999999999999"] {
      #expect(!header(.range(-5..<7), [("k", odd)]))
    }
    #expect(header(.range(Int64.min..<0), [("k", "-9223372036854775808")]))
    // What is not there matches no rule about its value, inverted or not.
    #expect(!header(.text(.exact([]), ignoresCase: false), [], isInverted: true))
    #expect(header(.text(.exact([]), ignoresCase: false), [("k", "x")], isInverted: true))
    let binary = HeaderRule(name: Array("k-bin".utf8), test: .present(true), isInverted: false)
    #expect(!binary.matches(HPACKHeaders([("k-bin", "AA")])))
    let type = HeaderRule(
      name: Array("content-type".utf8),
      test: .text(.exact(Array("application/grpc".utf8)), ignoresCase: false),
      isInverted: false
    )
    #expect(type.matches(HPACKHeaders()))
  }

  @Test func aFractionIsOfTheCallsThatMatch() {
    var match = RouteMatch(path: .prefix(Array("/echo".utf8)))
    match.millionths = 250_000
    #expect(match.matches(get, HPACKHeaders()) { 249_999 } && !match.matches(get, HPACKHeaders()) { 250_000 })
    match.path = .prefix(Array("/other".utf8))
    #expect(
      !match.matches(get, HPACKHeaders()) {
        Issue.record("a roll without need")
        return 0
      }
    )
  }

  @Test(arguments: [
    ("foo.bar.com", "exact"), ("FOO.bar.com", "exact"), ("x.bar.com", "long suffix"), ("x.com", "suffix"),
    ("foo.bar.org", "long prefix"), ("foo.x", "prefix"), (".com", "all"), ("other", "all"),
  ])
  func theMostSpecificDomainDecides(_ name: String, _ cluster: String) throws {
    func host(_ domain: String, _ cluster: String) throws -> VirtualHost {
      let action = RouteAction(clusters: [.init(name: cluster, weight: 1)])
      return VirtualHost(
        domains: [try #require(DomainPattern(domain))],
        routes: [Route(match: RouteMatch(path: .prefix([])), action: action)]
      )
    }
    let table = RouteTable(virtualHosts: [
      try host("*", "all"), try host("foo.*", "prefix"), try host("foo.bar.*", "long prefix"),
      try host("*.com", "suffix"), try host("*.bar.com", "long suffix"), try host("foo.bar.com", "exact"),
    ])
    #expect(table.host(for: name)?.routes.first?.action?.clusters.first?.name == cluster)
  }

  @Test func whatIsNoPatternIsNone() {
    for text in ["", "a*b", "*a*", "**"] { #expect(DomainPattern(text) == nil, "\(text)") }
  }
}
