import RESTService
import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf
import Testing

@testable import SwitchboardREST

@Suite struct RequestAssemblyTests {
  typealias Everything = Testing_Rest_Everything

  /// Checks the request by its JSON.
  private func expect(
    _ method: String,
    _ target: String,
    body: String = "",
    _ json: String,
    line: Int = #line
  ) throws {
    let request = try RESTFixture.request(method, target, body: body)
    let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    #expect(request == (try Everything(jsonString: json)), sourceLocation: location)
  }

  @Test func bindsPaths() throws {
    try expect("GET", "/v1/shelves/1/books/b%20c%2Fd", #"{"name":"shelves/1/books/b c%2Fd"}"#)
    try expect("GET", "/v1/simple/b%20c%2Fd%00", #"{"text":"b c/d\u0000"}"#)
    try expect("GET", "/v1/nested/x/of/-7", #"{"inner":{"text":"x","deeper":{"number":"-7"}}}"#)
    try expect("GET", "/v1/numbers/5/true/GREEN", #"{"int32":5,"bool":true,"color":"GREEN"}"#)
    try expect("GET", "/v1/numbers/5/false/2", #"{"int32":5,"color":"GREEN"}"#)
    try expect("GET", "/v1/times/2026-01-02T03:04:05Z", #"{"time":"2026-01-02T03:04:05Z"}"#)
    try expect("GET", "/v1/wrapped/0/false", #"{"int64Value":"0","boolValue":false}"#)
    try expect("DELETE", "/v1/shelves/a/b/../c%2fd", #"{"name":"shelves/a/b/../c%2fd"}"#)
    try expect("DELETE", "/v1/shelves", #"{"name":"shelves"}"#)
    try expect("GET", "/v1/simple/fixed", "{}")
    try expect("GET", "/v1/simple/fixed:verb", #"{"text":"fixed"}"#)
    try expect("REPORT", "/v1/report/x", #"{"text":"x"}"#)
  }

  @Test(arguments: [
    ("/v1/numbers/x/true/RED", "the path: int32: expected a number"),
    ("/v1/nested/x/of/y", "the path: inner.deeper.number: expected a number"),
    ("/v1/simple/x?inner.deeper.number=y", "the query: inner.deeper.number: expected a number"),
    ("/v1/simple/x?color=PINK", "the query: color: testing.rest.Color has no value \"PINK\""),
  ])
  func anErrorNamesTheWholeField(_ target: String, _ reason: String) {
    let error = #expect(throws: GRPCStatus.self) { try RESTFixture.request("GET", target) }
    #expect(error?.message?.hasPrefix(reason) == true, "\(error?.message ?? "")")
  }

  /// `google.api.HttpRule` has a message in a oneof; this type has two.
  @Test(arguments: [
    ("first.text=a&second.text=b", "second.text: first, of the same oneof as second, is already set"),
    ("word=a&first.text=b", "first.text: word, of the same oneof as first, is already set"),
    ("first.text=a&word=b", "word: first, of the same oneof as word, is already set"),
    ("wrapped=a&stamp=1970-01-01T00:00:00Z", "stamp: wrapped, of the same oneof as stamp, is already set"),
    ("first.first.text=a&first.second.text=b", "first.second.text: first, of the same oneof"),
    ("first.text=a&first.text=b&first.first.text=c", nil), ("plain.text=a&other.text=b", nil),
  ])
  func membersOfOneOneofAreNotLost(_ query: String, _ refusal: String?) throws {
    let type = try RESTFixture.oneofs()
    var message = DynamicMessage(type)
    var reason: String?
    for (name, value) in IteratorSequence(QueryText(Array(query.utf8)[...])) {
      let names = String(decoding: name, as: UTF8.self).split(separator: ".").map(String.init)
      let path = try #require(FieldPath(names, in: type))
      do throws(DecodeError) {
        try message.set(path, to: value ?? [])
      } catch {
        reason = "\(path.name): \(error.reason)"
      }
    }
    if let refusal {
      #expect(reason?.hasPrefix(refusal) == true, "\(reason ?? "it is accepted")")
    } else {
      #expect(reason == nil)
    }
  }

  @Test func bindsQueries() throws {
    let query = """
      text=a+b%26&int32=-1&int64=9007199254740993&uint32=4&uint64=18446744073709551615&double=1.5&float=-0.5&bool=true\
      &bytes=AP-_&color=RED&inner.text=x&inner.deeper.deeper.flag=true&numbers=1&numbers=2&texts=a&texts=&colors=RED\
      &colors=2&word=w&maybe=&time=2026-01-02T03:04:05.5Z&span=1.5s&mask=name,inner.text&string_value=&boolValue=false\
      &int64_value=0&uint32_value=7&double_value=NaN&bytes_value=AA%3D%3D&value=v&sint32=-3&fixed64=8&anotherName=r
      """
    let json = """
      {"text":"a b&","int32":-1,"int64":"9007199254740993","uint32":4,"uint64":"18446744073709551615","double":1.5,
      "float":-0.5,"bool":true,"bytes":"AP+/","color":"RED","inner":{"text":"x","deeper":{"deeper":{"flag":true}}},
      "numbers":[1,2],"texts":["a",""],"colors":["RED","GREEN"],"word":"w","maybe":"","time":"2026-01-02T03:04:05.5Z",
      "span":"1.5s","mask":"name,inner.text","stringValue":"","boolValue":false,"int64Value":"0","uint32Value":7,
      "doubleValue":"NaN","bytesValue":"AA==","value":"v","sint32":-3,"fixed64":"8","anotherName":"r"}
      """
    let request = try RESTFixture.request("GET", "/v1/query?" + query)
    #expect(request.doubleValue.value.isNaN)
    var expected = try Everything(jsonString: json)
    expected.doubleValue = request.doubleValue
    #expect(try request.serializedBytes() == expected.serializedBytes())
    // The last of several counts.
    try expect("GET", "/v1/query?text=a&text=b&word=x&word=y", #"{"text":"b","word":"y"}"#)
    try expect(
      "GET",
      "/v1/query?time=2026-01-02T03:04:05.5Z&time=2026-01-02T03:04:05Z",
      #"{"time":"2026-01-02T03:04:05Z"}"#
    )
    try expect(
      "GET",
      "/v1/query?bool=YES&boolValue=0&int32=-007&int64Value=00&color=002",
      #"{"bool":true,"boolValue":false,"int32":-7,"int64Value":"0","color":"GREEN"}"#
    )
    try expect("GET", "/v1/query?renamed=x&old_name=y&oldName=z", #"{"anotherName":"x","oldName":"z"}"#)
  }

  @Test func bindsBodies() throws {
    try expect(
      "POST",
      "/v1/all",
      body: #"{"text":"x","inner":{"number":3}}"#,
      #"{"text":"x","inner":{"number":3}}"#
    )
    try expect(
      "POST",
      "/v1/shelves/7/all",
      body: #"{"name":"other","text":"x"}"#,
      #"{"name":"shelves/7","text":"x"}"#
    )
    try expect(
      "POST",
      "/v1/shelves/7/inner?text=q",
      body: #"{"text":"x"}"#,
      #"{"name":"shelves/7","text":"q","inner":{"text":"x"}}"#
    )
    try expect("PUT", "/v1/list/numbers", body: "[1, 2]", #"{"numbers":[1,2]}"#)
    try expect("PUT", "/v1/list/inners", body: #"[{"text":"a"},{}]"#, #"{"inners":[{"text":"a"},{}]}"#)
    try expect("PUT", "/v1/text", body: #""x""#, #"{"text":"x"}"#)
    try expect("PUT", "/v1/time", body: #""2026-01-02T03:04:05Z""#, #"{"time":"2026-01-02T03:04:05Z"}"#)
    try expect("PUT", "/v1/labels", body: #"{"a":"b"}"#, #"{"labels":{"a":"b"}}"#)
    try expect(
      "PATCH",
      "/v1/shelves/9",
      body: #"{"text":"lost","flag":true}"#,
      #"{"inner":{"text":"shelves/9","flag":true}}"#
    )
    try expect("POST", "/v1/all", "{}")
  }

  @Test(
    arguments: [
      ("GET", "/v1/numbers/x/true/RED", ""), ("GET", "/v1/numbers/1/maybe/RED", ""),
      ("GET", "/v1/numbers/1/true/BLUE", ""), ("GET", "/v1/times/now", ""),
      ("GET", "/v1/query?nothing=1", ""),
      ("GET", "/v1/query?inner=x", ""), ("GET", "/v1/query?labels=x", ""),
      ("GET", "/v1/query?labels.a=x", ""),
      ("GET", "/v1/query?inners.text=x", ""), ("GET", "/v1/query?struct=x", ""),
      ("GET", "/v1/query?text=%FF", ""),
      ("GET", "/v1/query?.text=x", ""), ("GET", "/v1/query?int32=1,%22text%22:2", ""),
      ("GET", "/v1/query?bool=true,%22text%22:%22x%22", ""), ("GET", "/v1/query?int32=--5", ""),
      ("GET", "/v1/query?word=x&count=2", ""), ("GET", "/v1/query?int32=-", ""),
      ("GET", "/v1/simple/x?text=y", ""),
      ("GET", "/v1/query?numbers=1,2", ""), ("GET", "/v1/query?inner.text.x=1", ""),
      ("POST", "/v1/all?text=x", "{}"), ("POST", "/v1/all", "{"), ("POST", "/v1/all", #"{"nothing":1}"#),
      ("POST", "/v1/shelves/7/inner?inner.text=x", "{}"), ("PUT", "/v1/text", #""x","name":"y""#),
      ("PUT", "/v1/list/numbers", #"[1],"name":"y""#), ("PUT", "/v1/text", "1"),
    ]
  )
  func rejectsInvalidRequests(_ method: String, _ target: String, _ body: String) {
    let error = #expect(throws: GRPCStatus.self) { try RESTFixture.request(method, target, body: body) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func ignoresUnknownFieldsIfAllowed() throws {
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    let request = try RESTFixture.request(
      "POST",
      "/v1/shelves/1/inner?what=1",
      body: #"{"x":{"y":[1]}}"#,
      options: options
    )
    #expect(
      request
        == .with {
          $0.name = "shelves/1"
          $0.inner = .init()
        }
    )
  }

  /// Neither deep names nor deep JSON may use up the stack.
  @Test func boundsDepth() {
    let deep = "inner." + String(repeating: "deeper.", count: 100_000) + "text=x"
    #expect(throws: GRPCStatus.self) { try RESTFixture.request("GET", "/v1/query?" + deep) }
    let json = String(repeating: #"{"deeper":"#, count: 100_000)
    #expect(throws: GRPCStatus.self) { try RESTFixture.request("POST", "/v1/shelves/1/inner", body: json) }
    #expect(throws: Never.self) {
      try RESTFixture.request("GET", "/v1/query?inner." + String(repeating: "deeper.", count: 90) + "text=x")
    }
  }

  @Test func rulesInCodeReplaceAnnotations() throws {
    let table = try RESTFixture.table([
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/hidden/{text}"),
      HTTPRule("testing.rest.Rest.Delete", "GET", "/gone"),
    ])
    func finds(_ method: String, _ path: String) -> Bool {
      if case .route = table.match(Array(method.utf8), Array(path.utf8)[...]) { true } else { false }
    }
    #expect(finds("GET", "/hidden/x"))
    #expect(finds("GET", "/gone"))
    #expect(!finds("DELETE", "/v1/shelves/x"))
    for rule in [
      HTTPRule("testing.rest.Rest.Nothing", "GET", "/x"),
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/{nothing}"),
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/{inner}"),
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/{numbers}"),
      HTTPRule("testing.rest.Rest.Hidden", "POST", "/x", body: "nothing"),
      HTTPRule("testing.rest.Rest.Hidden", "POST", "/x", responseBody: "nothing"),
      HTTPRule("testing.rest.Rest.Hidden", "", "/x"),
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/query"),
    ] { #expect(throws: HTTPRuleError.self, "\(rule)") { try RESTFixture.table([rule]) } }
  }
}
