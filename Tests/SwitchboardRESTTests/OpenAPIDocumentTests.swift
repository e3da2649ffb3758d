import Foundation
import SwitchboardDescriptors
import SwitchboardOpenAPI
import SwitchboardREST
import Testing

@Suite struct OpenAPIDocumentTests {
  private func document(_ options: OpenAPIOptions = OpenAPIOptions()) throws -> [String: Any] {
    let document = try OpenAPIDocument(
      files: RESTFixture.files,
      services: ["testing.rest.Rest"],
      options: options
    )
    return try #require(try JSONSerialization.jsonObject(with: Data(document.json.utf8)) as? [String: Any])
  }

  /// A value in the document, by the names of members.
  private func find(_ document: Any?, _ names: String...) -> Any? {
    names.reduce(document) { ($0 as? [String: Any])?[$1] }
  }

  @Test func describesPathsAndParameters() throws {
    let document = try document()
    #expect(document["openapi"] as? String == "3.1.0")
    let paths = try #require(document["paths"] as? [String: Any])
    // A wildcard of a variable is a parameter, since those have no slashes.
    let get = try #require(find(paths, "/v1/shelves/{shelvesId}/books/{booksId}", "get"))
    #expect(find(get, "operationId") as? String == "Rest_Get")
    let parameters = try #require(find(get, "parameters") as? [[String: Any]])
    #expect(parameters.prefix(2).map { $0["name"] as? String } == ["shelvesId", "booksId"])
    let names = Set(parameters.compactMap { $0["name"] as? String })
    #expect(
      names.contains("inner.deeper.text") == false && names.contains("inner.text")
        && names.contains("boolValue")
    )
    #expect(!names.contains("name") && !names.contains("etag") && !names.contains("labels"))
    #expect(find(paths, "/v1/shelves/{shelvesId}/books/{booksId}:publish", "post") != nil)
    #expect(find(paths, "/v1/all", "put", "operationId") as? String == "Rest_Create_3")
    // OpenAPI has no such method.
    #expect(find(paths, "/v1/report/{text}") == nil)
    // Two rules whose paths differ only in names have the names of the first.
    #expect(find(paths, "/v1/files/{name}") == nil)
    #expect(
      find(paths, "/v1/files/{text}", "post", "requestBody", "content", "application/octet-stream") != nil
    )
    #expect(find(paths, "/v1/watch/{text}", "get", "responses", "200", "content", "text/event-stream") != nil)
  }

  /// What a server refuses at its start is no document either.
  @Test(arguments: [
    (HTTPRule("testing.rest.Rest.Get", "GET", "/a/{txt}"), "testing.rest.Everything has no field txt"),
    (
      HTTPRule("testing.rest.Rest.Get", "GET", "/a/{inner.txt}"),
      "testing.rest.Inner has no field txt"
    ),
    (
      HTTPRule("testing.rest.Rest.Get", "GET", "/a/{texts.x}"), "texts is not a message that has a field x"
    ),
    (
      HTTPRule("testing.rest.Rest.Get", "GET", "/a/{inner}"),
      "inner is a message, which a variable of a path cannot set"
    ),
    (HTTPRule("testing.rest.Rest.Get", "GET", "/a/{texts}"), "texts is a list or a map, which a variable"),
    (HTTPRule("testing.rest.Rest.Get", "GET", "/a/{labels}"), "labels is a list or a map, which a variable"),
    (
      HTTPRule("testing.rest.Rest.Get", "POST", "/a", body: "innr"),
      "testing.rest.Everything has no field innr"
    ),
    (
      HTTPRule("testing.rest.Rest.Get", "POST", "/a", responseBody: "innr"),
      "testing.rest.Everything has no field innr"
    ),
    (
      HTTPRule("testing.rest.Rest.Get", "GET", "/v1/own/{text}"),
      "testing.rest.Rest.Hidden (GET /v1/{name=own/*}) have the same path"
    ),
  ])
  func aRuleThatIsWrongIsAnError(_ rule: HTTPRule, _ reason: String) throws {
    let own = HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/{name=own/*}")
    let error = #expect(throws: HTTPRuleError.self) {
      try OpenAPIDocument(files: RESTFixture.files, services: ["testing.rest.Rest"], rules: [rule, own])
    }
    #expect(error?.description.contains("testing.rest.Rest.Get (\(rule.method) \(rule.path))") == true)
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  /// A server tells these apart, but OpenAPI does not, and a member that comes twice is no JSON.
  @Test func wildcardsThatOpenAPIDoesNotHaveAreDescribedOnce() throws {
    let document = try OpenAPIDocument(
      files: RESTFixture.files,
      services: ["testing.rest.Rest"],
      rules: [
        HTTPRule("testing.rest.Rest.Get", "GET", "/x/{text}"),
        HTTPRule("testing.rest.Rest.Hidden", "GET", "/x/{name=**}"),
      ]
    )
    #expect(document.json.contains("\"Rest_Get\""))
    #expect(!document.json.contains("\"Rest_Hidden\""))
  }

  /// `S`, whose method `Get` takes and returns this message.
  private func service(of message: String) -> Google_Protobuf_ServiceDescriptorProto {
    .with { service in
      service.name = "S"
      service.method = [
        .with {
          $0.name = "Get"
          $0.inputType = message
          $0.outputType = message
        }
      ]
    }
  }

  @Test func operationsOfServicesWithTheSameNameHaveTheirOwnIDs() throws {
    let files = ["one", "two"].map { package in
      Google_Protobuf_FileDescriptorProto.with { file in
        file.name = "\(package).proto"
        file.package = package
        file.messageType = [.with { $0.name = "M" }]
        file.service = [service(of: ".\(package).M")]
      }
    }
    let document = try OpenAPIDocument(
      files: try files.map { try $0.serializedBytes() },
      rules: [
        HTTPRule("one.S.Get", "GET", "/1"), HTTPRule("one.S.Get", "GET", "/one"),
        HTTPRule("two.S.Get", "GET", "/2"), HTTPRule("two.S.Get", "GET", "/two"),
      ]
    )
    let ids = document.json.split(separator: "\n").filter { $0.contains("operationId") }
      .map { $0.split(separator: "\"")[3] }
    #expect(ids == ["S_Get", "S_Get_2", "two_S_Get", "two_S_Get_2"])
  }

  /// Descriptors may come from a server that means no good: a chain of messages, and messages that all mention each other.
  @Test(.timeLimit(.minutes(1)), arguments: [(30_000, 1), (30, 30)])
  func looksForParametersWithinLimits(_ count: Int, _ mentions: Int) throws {
    let file = Google_Protobuf_FileDescriptorProto.with { file in
      file.name = "hostile.proto"
      file.package = "hostile"
      file.messageType = (0..<count).map { number in
        .with { message in
          message.name = "M\(number)"
          message.field = (1...mentions).map { next in
            .with { field in
              field.name = "f\(next)"
              field.number = Int32(next)
              field.label = .optional
              field.type = .message
              field.typeName = ".hostile.M\((number + next) % count)"
            }
          }
        }
      }
      file.service = [service(of: ".hostile.M0")]
    }
    let document = try OpenAPIDocument(
      files: [try file.serializedBytes()],
      rules: [HTTPRule("hostile.S.Get", "GET", "/x")]
    )
    #expect(document.json.contains("\"S_Get\""))
  }

  @Test func aRuleInCodeReplacesAnAnnotationThatIsWrong() throws {
    let file = Google_Protobuf_FileDescriptorProto.with { file in
      file.name = "hostile.proto"
      file.package = "hostile"
      file.messageType = [.with { $0.name = "M0" }]
      file.service = [service(of: ".hostile.M0")]
      file.service[0].method[0].options = .with {
        $0.Google_Api_http = .with { $0.pattern = .get("without a slash") }
      }
    }
    let files = [try file.serializedBytes()]
    #expect(throws: HTTPRuleError.self) { try OpenAPIDocument(files: files) }
    let document = try OpenAPIDocument(files: files, rules: [HTTPRule("hostile.S.Get", "GET", "/x")])
    #expect(document.json.contains("\"/x\""))
  }

  @Test func describesFields() throws {
    let document = try document()
    let schema = try #require(find(document, "components", "schemas", "testing.rest.Everything"))
    #expect(find(schema, "required") as? [String] == ["name"])
    #expect(find(schema, "properties", "etag", "readOnly") as? Bool == true)
    #expect(find(schema, "properties", "oldName", "deprecated") as? Bool == true)
    #expect(find(schema, "properties", "int64", "type") as? String == "string")
    #expect(find(schema, "properties", "time", "format") as? String == "date-time")
    #expect(find(schema, "properties", "labels", "additionalProperties", "type") as? String == "string")
    #expect(
      find(schema, "properties", "inner", "$ref") as? String == "#/components/schemas/testing.rest.Inner"
    )
    #expect(
      find(document, "components", "schemas", "testing.rest.Color", "enum") as? [String] == [
        "COLOR_UNSPECIFIED", "RED", "GREEN",
      ]
    )
    #expect(find(document, "components", "schemas", "google.rpc.Status") != nil)
  }

  @Test func optionsAppearInTheDocument() throws {
    var options = OpenAPIOptions()
    options.title = "Everything \"quoted\""
    options.servers = ["https://api.example"]
    options.security = [.bearer, .apiKey(header: "x-key")]
    options.usesProtoFieldNames = true
    let document = try document(options)
    #expect(find(document, "info", "title") as? String == "Everything \"quoted\"")
    #expect(find(document, "components", "securitySchemes", "apiKey", "name") as? String == "x-key")
    #expect((document["security"] as? [[String: Any]])?.map { $0.keys.sorted() } == [["bearer"], ["apiKey"]])
    #expect(
      find(document, "components", "schemas", "testing.rest.Everything", "properties", "old_name") != nil
    )
  }
}
