import Foundation
import TestSupport
import Testing

/// The document that the plugin of protoc writes, from `.proto` files with their comments.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OpenAPIPluginTests {
  /// Runs protoc, and returns what it says of errors and the document.
  private func run(_ options: String, of file: String = "testing/rest.proto") throws -> (
    errors: String, document: String
  ) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "openapi-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let command = try Command.run(
      "protoc",
      [
        "--plugin=protoc-gen-switchboard=\(Command.path(ofProduct: "protoc-gen-switchboard"))",
        "-I", TestFolders.root.appending(path: "Protos").path, "--switchboard_out=\(folder.path)",
        "--switchboard_opt=Services=false,\(options)", file,
      ]
    )
    let document = try? String(contentsOf: folder.appending(path: "rest.json"), encoding: .utf8)
    return (command.errors, document ?? "")
  }

  @Test func writesADocumentWithComments() throws {
    let options =
      "OpenAPI=rest.json,OpenAPITitle=All rules,OpenAPIServer=https://api.example,OpenAPISecurity=apiKey:x-key"
    let (errors, document) = try run(options)
    #expect(errors == "")
    let root = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
    #expect((root?["info"] as? [String: Any])?["title"] as? String == "All rules")
    #expect(document.contains(#""summary": "Gets by the name of a resource, and by other paths.""#))
    #expect(document.contains(#""description": "The name of a resource.""#))
    #expect(document.contains(#""url": "https://api.example""#))
    #expect(document.contains(#""in": "header""#))
  }

  @Test func aFileWithoutRulesIsReported() throws {
    let (errors, document) = try run("OpenAPI=rest.json", of: "echo/echo.proto")
    #expect(document.contains(#""paths": {}"#))
    #expect(
      errors
        == "protoc-gen-switchboard: warning: OpenAPI: no method has a rule of google.api.http: the document has no paths\n"
    )
  }

  /// A URL without a scheme is a path beside the document.
  @Test(arguments: [
    ("api.example", true), ("api.example/v1", true), ("localhost", true), ("api:8080", true),
    ("https://api.example", false), ("http://localhost:80", false), ("/v1", false), ("./api.example", false),
    ("v1", false), ("{base}.example", false), ("//api.example/v1", false),
  ]) func aServerWithoutASchemeIsRefused(_ url: String, _ isRefused: Bool) throws {
    let errors = try run("OpenAPI=rest.json,OpenAPIServer=\(url)").errors
    #expect(errors.contains("the server \"\(url)\" has no scheme") == isRefused, "\(errors)")
    #expect(errors.contains("write \"https://\(url)\"") == isRefused)
  }

  @Test func refusesOptionsThatItDoesNotKnow() throws {
    #expect(
      try run("OpenAPISecurity=magic,OpenAPI=rest.json").errors.contains("bearer, basic or apiKey:HEADER")
    )
    #expect(try run("OpenAPITitle=x").errors.contains("OpenAPI=FILE"))
    #expect(try run("OpenAPI=").errors.contains("has no value"))
    #expect(try run("OpenAPI=../rest.json").errors.contains("not a path below the output directory"))
    #expect(try run("OpenAPIColor=red").errors.contains("OpenAPIColor"))
    #expect(try run("openAPI=rest.json").errors.contains("documents are OpenAPI, OpenAPITitle"))
    #expect(try run("OpenAPI=a.json,OpenAPI=b.json").errors.contains("option OpenAPI is given twice"))
    #expect(try run("OpenAPIColor=red").errors.contains("documents are OpenAPI, OpenAPITitle"))
  }
}
