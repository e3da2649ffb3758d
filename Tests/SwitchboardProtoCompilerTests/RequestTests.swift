import Foundation
import SwitchboardProtoCompiler
import TestSupport
import Testing

/// The request is what the real protoc sends to its plugins, byte for byte.
@Suite(.mayBlock) struct RequestTests {
  static let everything = [
    "a/one.proto": """
    // A file comment.

    syntax = "proto3";
    package a;
    import "b/two.proto";
    import public "google/protobuf/timestamp.proto";
    import "google/protobuf/descriptor.proto";

    extend google.protobuf.FieldOptions { Label label = 50000; }
    message Label { string text = 1; repeated int32 numbers = 2; }

    // Leading.
    message One {
      // Detached.

      b.Two two_words = 1 [(label) = { text: "x" numbers: [1, 2] }];  // Trailing.
      map<string, b.Two> by_name = 2;
      optional google.protobuf.Timestamp when = 3 [json_name = "At"];
      oneof kind { bool yes = 4; bytes no = 5; }
    }
    service Calls { rpc Get(One) returns (stream b.Two); }
    """,
    "b/two.proto": """
    syntax = "proto2";
    package b;
    message Two {
      optional int32 n = 1 [default = -7];
      repeated group Item = 2 { required string text = 1; }
      extensions 100 to max;
    }
    """,
  ]

  @Test func isWhatProtocSends() throws {
    let folder = try ProtoFolder(Self.everything)
    let ours = try ProtoCompiler(includeDirectories: [folder.path, "/usr/include"])
      .compile(["a/one.proto", "b/two.proto"], parameter: "Visibility=Public")
    let theirs = try requestOfProtoc(
      in: folder,
      files: ["a/one.proto", "b/two.proto"],
      parameter: "Visibility=Public"
    )
    #expect(ours.request == theirs)
    #expect(ours.warnings == [])
  }

  @Test func leavesOutAnAbsentParameter() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";"])
    #expect(try folder.compile("a.proto").request == requestOfProtoc(in: folder, files: ["a.proto"]))
  }

  @Test func usesAFileGivenTwiceOnce() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";"])
    let once = try folder.compile("a.proto")
    #expect(try folder.compile("a.proto", folder.path + "/a.proto") == once)
  }

  /// Runs protoc with a plugin that saves its input and responds that it supports proto3's `optional`.
  private func requestOfProtoc(in folder: ProtoFolder, files: [String], parameter: String = "") throws
    -> [UInt8]
  {
    let captured = folder.path + "/request.bin"
    // Not written here: a file that a child process still holds open for writing cannot be executed.
    let plugin = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "keep.sh").path
    let arguments = ["-I", folder.path, "--plugin=protoc-gen-keep=\(plugin)"]
    let protoc = ["KEPT=\(captured)", "protoc"] + arguments
    _ = try Command.run("/usr/bin/env", protoc + ["--keep_out=\(parameter):\(folder.path)"] + files)
    return Array(try Data(contentsOf: URL(fileURLWithPath: captured)))
  }
}
