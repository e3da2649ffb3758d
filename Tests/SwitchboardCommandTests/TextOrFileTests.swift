import Foundation
import SwitchboardCommand
import TestSupport
import Testing

/// Flags that take a text or `@FILE`.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TextOrFileTests {
  private static let shop = ["127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto"]

  /// A file for one test, in a directory of its own.
  private func with(_ name: String, _ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "text-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
    try body(folder)
  }

  @Test(arguments: ["call", "load"]) func aFileOfRequestsWithoutItsAtSignIsExplained(_ verb: String) throws {
    for name in ["order.json", "folder/order", "request.txtpb"] {
      let run = try Command.product("switchboard", [verb] + Self.shop + ["-d", name])
      #expect(run.exitCode == 65)
      #expect(
        run.errors.hasSuffix("\nTo read it from the file '\(name)', write -d @\(name)\n"),
        "\(run.errors)"
      )
    }
    for text in [#"{"itm": 1}"#, "1.5", "tea"] {
      let run = try Command.product("switchboard", [verb] + Self.shop + ["-d", text])
      #expect(run.exitCode == 65 && !run.errors.contains("To read it"), "\(run.errors)")
    }
    // A file that exists is known by any name.
    try with("order", Array("{}".utf8)) { folder in
      let run = try Command.product("switchboard", [verb] + Self.shop + ["-d", "order"], in: folder)
      #expect(run.errors.contains("write -d @order\n"), "\(run.errors)")
    }
  }

  /// A loop of a shell has its list there, which a command must not take.
  @Test func standardInputThatIsNotReadIsWarnedOf() throws {
    let warning =
      "switchboard: warning: the request is empty: standard input has text, which only '-d @-' reads\n"
    func errors(_ input: String, _ more: String...) throws -> String {
      try Command.product("switchboard", ["call"] + Self.shop + more, input: Array(input.utf8)).errors
    }
    #expect(try errors(#"{"item": "tea"}"#).contains(warning))
    #expect(try !errors("").contains(warning))
    #expect(try !errors(#"{"item": "tea"}"#, "-d", "{}").contains(warning))
    #expect(try !errors(#"{"item": "tea"}"#, "-d", "@-").contains(warning))
  }

  @Test func aFileWithoutARequestIsNoEmptyRequest() throws {
    try with("empty.json", Array(" \n".utf8)) { folder in
      let run = try Command.product("switchboard", ["call"] + Self.shop + ["-d", "@empty.json"], in: folder)
      #expect(run.exitCode == 65)
      #expect(run.errors == "switchboard: empty.json has no request\nWithout -d, the request is empty.\n")
    }
  }

  /// As other tools take them.
  @Test func anArrayOfRequestsIsExplained() throws {
    func errors(_ verb: String, _ data: String) throws -> String {
      let run = try Command.product("switchboard", [verb] + Self.shop + ["-d", data])
      #expect(run.exitCode == 65)
      return run.errors
    }
    let hint = "\nRequests are JSON objects, one after the other and not in an array"
    let array = #"[{"item": "tea"}, {"item": "milk"}]"#
    for data in [array, #"[]"#, #",{"item": "milk"}"#] { #expect(try errors("call", data).contains(hint)) }
    #expect(
      try errors("load", array).hasSuffix("\nA file may have several, which are sent in turn: -d @FILE.\n")
    )
  }

  /// As JavaScript and Python write it.
  @Test(arguments: ["call", "load"]) func aRequestWithoutDoubleQuotesIsExplained(_ verb: String) throws {
    func errors(_ data: String) throws -> String {
      try Command.product("switchboard", [verb] + Self.shop + ["-d", data]).errors
    }
    let hint = "\nNames and texts in JSON are in double quotes, such as '{\"name\": \"Ada\"}'.\n"
    for data in ["{item: 'tea'}", "{ 'item': 'tea'}"] { #expect(try errors(data).hasSuffix(hint)) }
    for data in [#"{"item": 1}"#, "{}}", "{"] { #expect(try !errors(data).contains(hint)) }
  }

  /// A field of any message in a request.
  @Test func aMisspeltFieldIsAnsweredWithTheOneThatIsMeant() throws {
    for (data, type, near) in [
      (#"{"itm": "tea"}"#, "shop.Order", "item"),
      (#"{"sizes": {"a": {"widht": 1}}}"#, "shop.Order.Size", "width"),
      (#"{"sizes": {"a": {"inside": {"cuont": 1}}}}"#, "shop.Order", "count"),
    ] {
      for verb in ["call", "load"] {
        let run = try Command.product("switchboard", [verb] + Self.shop + ["-d", data])
        #expect(run.exitCode == 65 && run.errors.contains("\(type) has no field \""), "\(run.errors)")
        #expect(run.errors.hasSuffix("\nDid you mean \"\(near)\"?\n"), "\(run.errors)")
      }
    }
    let template = try Command.product("switchboard", ["load"] + Self.shop + ["-d", #"{"itm": "{{uuid}}"}"#])
    #expect(
      template.exitCode == 65 && template.errors.hasSuffix("Did you mean \"item\"?\n"),
      "\(template.errors)"
    )
    let text = ["call"] + Self.shop + ["--format", "text", "-d"]
    let field = try Command.product("switchboard", text + ["itm: 'tea'"])
    #expect(field.exitCode == 65 && field.errors.hasSuffix("Did you mean \"item\"?\n"), "\(field.errors)")
    let json = try Command.product("switchboard", text + [#"{"item": "tea"}"#])
    #expect(json.errors.hasSuffix("\nIt looks like JSON, and --format is text.\n"), "\(json.errors)")
    let rules = "rules: [{method: shop.Shop/Buy, match: {itm: tea}, answer: {}}]"
    try with("rules.yaml", Array(rules.utf8)) { folder in
      let words = ["mock", Run.protos + "/shop.proto", "--rules", "rules.yaml"]
      let run = try Command.product("switchboard", words, in: folder)
      #expect(run.exitCode == 65 && run.errors.hasSuffix("Did you mean \"item\"?\n"), "\(run.errors)")
    }
  }

  @Test func aFileOfMetadataWithoutItsAtSignIsExplained() throws {
    try with("headers.txt", Array("a: b\n".utf8)) { folder in
      let run = try Command.product("switchboard", ["call"] + Self.shop + ["-H", "headers.txt"], in: folder)
      #expect(run.exitCode == 64)
      #expect(run.errors.hasSuffix("\nTo read it from the file 'headers.txt', write -H @headers.txt\n"))
    }
    // What is no file may be a secret, whatever it looks like.
    let token = try Command.product("switchboard", ["call"] + Self.shop + ["-H", "eyJhbGci.eyJzdWIi.SflKxw"])
    #expect(token.exitCode == 64 && !token.errors.contains("eyJ"), "\(token.errors)")
  }

  @Test func aTokenThatNamesAFileIsWarnedOf() throws {
    try with("token.txt", Array("s3cret\n".utf8)) { folder in
      let words = ["load"] + Self.shop + ["-n", "2", "--agents", "127.0.0.1:1", "--agent-token", "token.txt"]
      let run = try Command.product("switchboard", words, in: folder)
      let warning = "warning: --agent-token: the name of a file is the secret itself"
      #expect(run.errors.contains(warning), "\(run.errors)")
      #expect(run.errors.contains("write --agent-token @token.txt"))
    }
  }

  /// Editors on Windows write a mark at the beginning of a file, and two characters at the end of a line.
  @Test func filesFromWindowsAreRead() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    try with("file", mark + Array("{\r\n\"item\": \"tea\"\r\n}\r\n".utf8)) { folder in
      for verb in [["call"], ["load", "-n", "1"]] {
        let run = try Command.product("switchboard", verb + Self.shop + ["-d", "@file"], in: folder)
        #expect(run.exitCode == 14, "\(run.errors)")
      }
    }
    try with("file", mark + Array("{\r\n\"methodConfig\": []}\r\n".utf8)) { folder in
      let check = try Command.product("switchboard", ["check-config", "file"], in: folder)
      #expect(check.exitCode == 0, "\(check.errors)")
      let words = ["call"] + Self.shop + ["--service-config", "@file"]
      let call = try Command.product("switchboard", words, in: folder)
      #expect(call.exitCode == 14, "\(call.errors)")
    }
    try with("file", mark + Array("a: b\r\nc: d\r\n".utf8)) { folder in
      let words = ["call"] + Self.shop + ["-v", "-H", "@file"]
      let run = try Command.product("switchboard", words, in: folder)
      #expect(run.errors.contains("> a: b\n> c: d\n"), "\(run.errors)")
    }
    try with("shop.proto", mark + Array("syntax = \"proto3\";\r\nmessage A {}\r\n".utf8)) { folder in
      let run = try Command.product("switchboard", ["describe", "--proto", "shop.proto", "A"], in: folder)
      #expect(run.exitCode == 0, "\(run.errors)")
    }
  }

  @Test func anEmptyValueIsAVariableThatIsNotSet() throws {
    for (words, flag) in [
      (["call"] + Self.shop + ["-d", ""], "-d"), (["call"] + Self.shop + ["--data="], "--data"),
      (["list", "--proto", ""], "--proto"), (["new", "a", "--directory", ""], "--directory"),
    ] {
      let run = try Command.product("switchboard", words)
      #expect(run.exitCode == 64)
      #expect(run.errors.hasPrefix("switchboard: \(flag) needs a value: "), "\(run.errors)")
      #expect(run.errors.hasSuffix(", which is empty\n"), "\(run.errors)")
    }
    for (words, operand) in [
      (["list", ""], "TARGET"), (["describe", "localhost:1", ""], "SYMBOL"), (["new", ""], "NAME"),
      (["mock", "a.proto", ""], "FILE"), (["check-config", ""], "FILE"),
    ] {
      let run = try Command.product("switchboard", words)
      #expect(run.exitCode == 64)
      #expect(run.errors.hasPrefix("switchboard: \(operand) is empty\n"), "\(run.errors)")
    }
  }
}
