import SwitchboardHTTPRules
import SwitchboardOpenAPI
import Testing

@Suite struct PathTemplateTests {
  @Test func readsEveryPart() throws {
    let template = try PathTemplate("/v1/{name=shelves/*/books/*}/pages/{page.number}/**:publish")
    #expect(
      template.segments == [
        .literal("v1"), .literal("shelves"), .one, .literal("books"), .one, .literal("pages"), .one, .rest,
      ]
    )
    #expect(template.verb == "publish")
    #expect(template.variables.map(\.fieldPath) == [["name"], ["page", "number"]])
    #expect(template.variables.map(\.segments) == [1..<5, 6..<7])
    #expect(template.variables.map(\.isMultiple) == [true, false])
  }

  @Test(
    arguments: [
      "", "v1", "/", "//", "/v1/", "/v1//x", "/{}", "/{a", "/{a=}", "/{a={b}}", "/{a}/{a}", "/**/x",
      "/{a=**}/*",
      "/v1:", "/v1:a:b", "/v1 /x", "/v1?x", "/{a.}", "/{1a}", "/x{a}", "/***", "/a*", "/ü",
    ]
  )
  func rejectsInvalidTemplates(_ text: String) {
    #expect(throws: RuleMistake.self) { try PathTemplate(text) }
  }

  /// What other frameworks write for a variable.
  @Test(arguments: [
    ("/v1/shelves/:shelf", "{shelf} for :shelf"), ("/v1/:shelf/books/:book", "{shelf} for :shelf"),
    ("/v1/<shelf>/books", "{shelf} for <shelf>"), ("/v1/<int:shelf_id>", "{shelf_id} for <int:shelf_id>"),
    ("/:a", "{a} for :a"),
  ]) func variablesOfOthersAreExplained(_ text: String, _ hint: String) {
    let error = #expect(throws: HTTPRuleError.self) { try HTTPBinding(HTTPRule("a.B.C", "GET", text)) }
    #expect(
      error?.description == "a.B.C: the template \"\(text)\" lacks a segment: write \(hint)",
      "\(text)"
    )
  }

  @Test(arguments: ["/v1/", "/v1/:", "/v1/<>", "/v1/<a", "/v1/?a"]) func othersHaveNoHint(_ text: String) {
    let error = #expect(throws: RuleMistake.self) { try PathTemplate(text) }
    #expect(error?.description == "the template \"\(text)\" lacks a segment")
  }

  @Test func limitsTheNumberOfSegments() {
    #expect(throws: Never.self) { try PathTemplate(String(repeating: "/a", count: 64)) }
    #expect(throws: RuleMistake.self) { try PathTemplate(String(repeating: "/a", count: 65)) }
    let twice = HTTPRule("a.B.C", "POST", "/a/{name}", body: "name")
    let error = #expect(throws: HTTPRuleError.self) { try HTTPBinding(twice) }
    #expect(error?.description == "a.B.C: the path and the body are both for the field name")
  }
}
