import Foundation
import TestSupport
import Testing

/// The plugin as protoc runs it.
@Suite(.mayBlock) struct ProtocPluginTests {
  private func plugin(_ input: [UInt8]) throws -> Command {
    try Command.product("protoc-gen-switchboard", [], input: input)
  }

  private func protoc(_ scratch: Scratch, _ options: String, _ file: String) throws -> Command {
    try Command.run(
      "protoc",
      [
        "-I", scratch.path,
        "--plugin=protoc-gen-switchboard=\(Command.path(ofProduct: "protoc-gen-switchboard"))",
        "--switchboard_out=\(options):\(scratch.path)", file,
      ]
    )
  }

  @Test(arguments: [[0xff], Array("junk".utf8), [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]] as [[UInt8]])
  func refusesJunk(input: [UInt8]) throws {
    let command = try plugin(input)
    #expect(command.exitCode != 0)
    #expect(command.output == [])
    #expect(command.errors.hasPrefix("protoc-gen-switchboard: "))
  }

  @Test func explainsItself() throws {
    let version = try Command.product("protoc-gen-switchboard", ["--version"])
    #expect(String(decoding: version.output, as: UTF8.self).hasPrefix("protoc-gen-switchboard 0."))
    #expect(try Command.product("protoc-gen-switchboard", ["a.proto"]).exitCode == 2)
  }

  @Test func saysWhatItSupports() throws {
    let command = try plugin([])
    #expect(command.exitCode == 0)
    // supported_features: proto3_optional and editions; minimum_edition 998 (proto2); maximum_edition 1001 (2024).
    #expect(command.output == [0x10, 3, 0x18, 0xe6, 0x07, 0x20, 0xe9, 0x07])
  }

  @Test func takesOptionalFieldsOfProto3() throws {
    let scratch = try Scratch(["a.proto": "syntax = \"proto3\"; message A { optional int32 n = 1; }"])
    let command = try protoc(scratch, "Visibility=Public", "a.proto")
    #expect(command.exitCode == 0, "\(command.errors)")
    #expect(try scratch.files(below: ".")["a.pb.swift"]?.contains("public struct A") == true)
  }

  @Test func reportsMistakesInRulesThroughProtoc() throws {
    let scratch = try Scratch([
      "a.proto": """
      syntax = "proto3";
      import "google/api/annotations.proto";
      message A { string id = 1; }
      service S {
        rpc Get(A) returns (A) { option (google.api.http) = { get: "/v1/{name}" }; }
        rpc Set(A) returns (A) { option (google.api.http) = { post: "/v1" body: "name" }; }
      }
      """
    ])
    let protos = TestFolders.root.appending(path: "Protos").path
    let plugin = Command.path(ofProduct: "protoc-gen-switchboard")
    func run(_ options: String) throws -> Command {
      try Command.run(
        "protoc",
        [
          "-I", scratch.path, "-I", protos, "--plugin=protoc-gen-switchboard=\(plugin)",
          "--switchboard_out=\(options):\(scratch.path)", "a.proto",
        ]
      )
    }
    let refused = try run("Client=true")
    #expect(refused.exitCode == 1)
    let get = "S.Get (GET /v1/{name}): A has no field name"
    let set = "S.Set (POST /v1): A has no field name"
    #expect(
      refused.errors.contains("a.proto:5:28: error: \(get)\na.proto:6:28: error: \(set)"),
      "\(refused.errors)"
    )
    let client = try run("Server=false")
    #expect(client.exitCode == 0)
    #expect(client.errors.contains("a.proto:5:28: warning: \(get)"), "\(client.errors)")
  }

  @Test func reportsABadOptionThroughProtoc() throws {
    let scratch = try Scratch(["a.proto": "syntax = \"proto3\";"])
    let command = try protoc(scratch, "Visbility=Public", "a.proto")
    #expect(command.exitCode == 1)
    #expect(command.errors.hasPrefix("--switchboard_out: "))
    #expect(command.errors.contains("Visibility"))
  }
}
