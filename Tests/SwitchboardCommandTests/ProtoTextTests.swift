import Foundation
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText
import TestSupport
import Testing

@testable import SwitchboardCommand

/// What `describe` writes is the source that the descriptors could come from.
@Suite(.mayBlock) struct ProtoTextTests {
  private static let protos = TestFolders.root.appending(path: "Protos").path

  private static func compiled(_ file: String, in folders: [String]) throws -> Schema {
    try Schema(try SchemaFiles.compile([file], includes: folders))
  }

  /// The files of the fuzzer's corpus, which have groups, extensions and options of users.
  private static func corpus(_ name: String) throws -> Schema {
    try Schema(
      try SchemaFiles.descriptorSet(TestFolders.root.appending(path: "Fuzz/Corpus/schema/\(name)").path)
    )
  }

  @Test(arguments: [
    "testing/all_kinds_2.proto", "testing/all_kinds_3.proto", "testing/text_kinds.proto",
    "testing/text_legacy.proto",
    "conformance/test_messages_proto2.proto", "conformance/test_messages_proto3.proto", "echo/echo.proto",
    "grpc/channelz/v1/channelz.proto", "shop.proto",
  ])
  func compilesToTheSameDescriptors(_ file: String) throws {
    try check(try Self.compiled(file, in: [Self.protos, Run.protos]), file)
  }

  @Test(arguments: [("proto2", "group.proto"), ("options", "opt.proto")])
  func writesGroupsAndOptionsOfUsers(_ set: String, _ file: String) throws {
    try check(try Self.corpus(set), file)
  }

  private func check(_ schema: Schema, _ file: String) throws {
    let index = try #require(schema.files.firstIndex { $0.name == file })
    var texts = ProtoText(schema, .plain)
    let text = texts.text(ofFile: index).text
    let folder = NSTemporaryDirectory() + "describe-\(UUID().uuidString)"
    let written = URL(fileURLWithPath: "\(folder)/\(file)")
    try FileManager.default.createDirectory(
      at: written.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(text.utf8).write(to: written)
    let again = try Self.compiled(file, in: [folder, Self.protos, Run.protos])
    var (old, new) = (schema.files[index], try #require(again.files.first { $0.name == file }))
    old.clearSourceCodeInfo()
    new.clearSourceCodeInfo()
    // Groups come with their fields, after the other messages.
    old.messageType = Self.sorted(old.messageType)
    new.messageType = Self.sorted(new.messageType)
    #expect(old == new, "\(text)")
  }

  private static func sorted(_ messages: [Google_Protobuf_DescriptorProto])
    -> [Google_Protobuf_DescriptorProto]
  {
    messages.map { message in
      var message = message
      message.nestedType = sorted(message.nestedType)
      return message
    }.sorted { $0.name < $1.name }
  }

  @Test func keepsCommentsInTheirPlaces() throws {
    let schema = try Self.compiled("shop.proto", in: [Run.protos])
    var texts = ProtoText(schema, .plain)
    let order = texts.text(of: try #require(schema.symbol(named: "shop.Order"))).text
    #expect(order.hasPrefix("// What a customer wants.\nmessage Order {\n"))
    #expect(order.contains("  // Its name, as in the catalog.\n  string item = 1;\n"))
    #expect(order.contains("  optional int32 count = 2; // At least one.\n"))
    #expect(order.contains("  // How it is paid.\n  oneof payment {\n"))
    let method = texts.text(of: try #require(schema.symbol(named: "shop.Shop.Watch"))).text
    #expect(method.hasPrefix("rpc Watch(Order) returns (stream Receipt) {\n  option deprecated = true;\n}"))
  }

  @Test func describesEachKindOfSymbol() throws {
    let schema = try Self.compiled("shop.proto", in: [Run.protos])
    var texts = ProtoText(schema, .plain)
    for (name, text) in [
      ("shop.Order.item", "string item = 1;"), ("shop.Order.Kind.KIND_GIFT", ""),
      ("shop.Order.KIND_GIFT", "KIND_GIFT = 1;"),
      ("shop.Order.payment", "oneof payment {\n  string card = 6;\n  bool cash = 7;\n}"),
      ("shop.Order.Kind", "enum Kind {\n  KIND_UNKNOWN = 0;\n"), (".shop.Receipt.total", "int64 total = 2;"),
    ] {
      let symbol = schema.symbol(named: name)
      #expect(text.isEmpty == (symbol == nil), "\(name)")
      guard let symbol else { continue }
      let shown = texts.text(of: symbol).text
      #expect(shown.contains(text), "\(name): \(shown)")
    }
    let extended = try Self.corpus("proto2")
    var others = ProtoText(extended, .plain)
    #expect(
      others.text(of: try #require(extended.symbol(named: "g.note"))).text
        == "extend A {\n  optional string note = 100;\n}"
    )
  }

  @Test func namesTypesSoThatTheyAreFoundAgain() throws {
    // `Thing` in `Outer` is the inner one there: the other needs its full name.
    let folder = NSTemporaryDirectory() + "names-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let source = """
      syntax = "proto3";
      package a.b;
      message Thing {}
      message Outer {
        message Thing {}
        Thing inner = 1;
        .a.b.Thing other = 2;
      }
      """
    try Data(source.utf8).write(to: URL(fileURLWithPath: "\(folder)/names.proto"))
    let schema = try Self.compiled("names.proto", in: [folder])
    try check(schema, "names.proto")
  }

  @Test func handlesRecursiveMessages() throws {
    let schema = try Self.compiled("shop.proto", in: [Run.protos])
    var tree = SchemaTree(schema, .plain)
    tree.draw(try #require(schema.service(named: "shop.Shop")))
    #expect(tree.lines.count < 40)
    for (file, folder) in [
      ("testing/all_kinds_3.proto", Self.protos), ("testing/all_kinds_2.proto", Self.protos),
    ] {
      let schema = try Self.compiled(file, in: [folder])
      for type in schema.pool.messageTypes {
        let text = RequestTemplate(of: type).text
        var options = JSONDecodingOptions()
        options.typeRegistry = schema.types
        #expect(throws: Never.self, "\(type.fullName): \(text)") {
          _ = try DynamicMessage(type, jsonString: text, partial: true, options: options)
        }
      }
    }
  }

  @Test func reformatsJSON() {
    let json = Array(#"{"a":[1,-2.5e3,"x\"{"],"b":{},"c":[],"d":null}"#.utf8)
    let pretty = JSONPainter(.plain, isPretty: true).text(of: json).text
    #expect(
      pretty
        == "{\n  \"a\": [\n    1,\n    -2.5e3,\n    \"x\\\"{\"\n  ],\n  \"b\": {},\n  \"c\": [],\n  \"d\": null\n}"
    )
    #expect(
      JSONPainter(.plain, isPretty: false).text(of: Array(pretty.utf8)).text
        == String(decoding: json, as: UTF8.self)
    )
    // What is no JSON ends, too.
    for broken in ["{", "\"", "\"\\", "}}", "[[", ":,"] {
      _ = JSONPainter(.plain, isPretty: true).text(of: Array(broken.utf8))
    }
    #expect(JSONText.string("a\"\\\n\u{1}é") == #""a\"\\\n\u0001é""#)
  }
}
