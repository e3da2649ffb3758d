import Foundation
import TestSupport
import Testing

/// The command as a user runs it.
@Suite(.mayBlock) struct GenerateTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch([
      "protos/a.proto": """
      syntax = "proto3";
      package a;
      import "sub/b.proto";
      import "google/protobuf/timestamp.proto";
      // Imports the other.
      message A { b.B b = 1; google.protobuf.Timestamp at = 2; }
      """,
      "protos/sub/b.proto": "syntax = \"proto3\";\npackage b;\nmessage B { string name = 1; }",
      "protos/broken.proto": "syntax = \"proto3\";\nmessage A {\n  int32 x 1;\n}\n",
    ])
  }

  private func generate(_ arguments: String...) throws -> Command {
    try Command.product("switchboard", ["generate"] + arguments, in: scratch.path)
  }

  @Test func writesWhatItGenerates() throws {
    let output = try scratch.directory("out")
    let command = try generate("-I", "protos", "-o", output, "a.proto", "protos/sub/b.proto")
    #expect(command.exitCode == 0)
    #expect(command.errors == "")
    #expect(command.output == [])
    let files = try scratch.files(below: "out")
    #expect(files.keys.sorted() == ["a.pb.swift", "sub/b.pb.swift"])
    #expect(files["a.pb.swift"]?.contains("/// Imports the other.") == true)
  }

  /// Swift's compiler refuses two files of one name in a module.
  @Test func filesOfOneNameAreNeitherWrittenNorSilentlyRenamed() throws {
    try scratch.write("syntax = \"proto3\";\npackage c;\nmessage C {}", to: "protos/other/b.proto")
    let output = try scratch.directory("out")
    let arguments = ["generate", "-I", "protos", "-o", output, "sub/b.proto", "other/b.proto"]
    let refused = try Command.product("switchboard", arguments, in: scratch.path)
    #expect(refused.exitCode == 1)
    #expect(
      refused.errors.hasPrefix("switchboard: other/b.proto and sub/b.proto would both have a file b.pb.swift")
    )
    #expect(try scratch.files(below: "out").isEmpty)
    let flat = arguments + ["--option", "FileNaming=PathToUnderscores"]
    #expect(try Command.product("switchboard", flat, in: scratch.path).exitCode == 0)
    #expect(try scratch.files(below: "out").keys.sorted() == ["other_b.pb.swift", "sub_b.pb.swift"])
  }

  /// The compiler would only say that a type is there twice.
  @Test func packagesOfOnePrefixAreNamed() throws {
    for (file, package) in [("one", "shop.v1"), ("two", "Shop.V1")] {
      try scratch.write(
        """
        syntax = "proto3";
        package \(package);
        message Order {}
        service Desk { rpc Get(Order) returns (Order); }
        """,
        to: "protos/\(file).proto"
      )
    }
    let output = try scratch.directory("out")
    let arguments = ["generate", "-I", "protos", "-o", output, "one.proto", "two.proto"]
    let clash =
      "switchboard: one.proto and two.proto: the packages shop.v1 and Shop.V1 have one prefix in Swift, Shop_V1_: "
    let rest = " in Swift: rename one, or give a file another prefix with option swift_prefix = \"…\"\n"
    let all = try Command.product("switchboard", arguments, in: scratch.path)
    #expect(all.exitCode == 1)
    #expect(
      all.errors
        == clash + "the message shop.v1.Order and the message Shop.V1.Order would both be Shop_V1_Order"
        + rest
    )
    let services = try Command.product(
      "switchboard",
      arguments + ["--option", "Messages=false"],
      in: scratch.path
    )
    #expect(
      services.errors
        == clash + "the service shop.v1.Desk and the service Shop.V1.Desk would both be Shop_V1_DeskMetadata"
        + rest
    )
    #expect(try scratch.files(below: "out").isEmpty)
    // For modules of their own.
    let apart = try Command.product(
      "switchboard",
      arguments + ["--option", "FileNaming=FullPath"],
      in: scratch.path
    )
    #expect(apart.exitCode == 0, "\(apart.errors)")
  }

  private static let withRules = """
    syntax = "proto3";
    package rest;
    import "google/api/annotations.proto";
    message Page { string id = 1; Page next = 2; repeated string names = 3; }
    service R {
      rpc A(Page) returns (Page) { option (google.api.http) = { get: "v1/{id}" }; }
      rpc B(Page) returns (Page) {
        option (google.api.http) = { get: "/v1/{none}" additional_bindings { post: "/v1/b" body: "nothing" } };
      }
      rpc C(Page) returns (Page) { option (google.api.http).get = "/v1/{next}"; }
      rpc D(Page) returns (Page) { option (google.api.http) = { get: "/v1/{names=d/*}" }; }
      rpc E(Page) returns (Page) { option (google.api.http) = { get: "/v2/{next.id}" }; }
      rpc F(Page) returns (Page) {
        // The same path.
        option (google.api.http) = { get: "/v2/{id}" response_body: "id" };
      }
    }
    service S { rpc G(Page) returns (Page) { option (google.api.http) = { get: "/v2/{id}" }; } }
    """

  private static let mistakesOfRules = [
    ("6:32", "rest.R.A: the template \"v1/{id}\" does not start with a slash"),
    ("8:5", "rest.R.B (GET /v1/{none}): rest.Page has no field none"),
    ("10:32", "rest.R.C (GET /v1/{next}): next is a message, which a variable of a path cannot set"),
    (
      "11:32",
      "rest.R.D (GET /v1/{names=d/*}): names is a list or a map, which a variable of a path cannot set"
    ),
    ("15:5", "rest.R.E (GET /v2/{next.id}) and rest.R.F (GET /v2/{id}) have the same path"),
  ]

  /// Only documents of OpenAPI and servers with REST read the rules otherwise.
  @Test func mistakesInRulesAreReportedWithTheirLines() throws {
    try scratch.write(Self.withRules, to: "protos/rest.proto")
    let protos = TestFolders.root.appending(path: "Protos").path
    let output = try scratch.directory("out")
    let command = try generate("-I", "protos", "-I", protos, "-o", output, "rest.proto")
    #expect(command.exitCode == 1)
    let expected = Self.mistakesOfRules.map { "protos/rest.proto:\($0.0): error: \($0.1)\n" }
    #expect(command.errors == expected.joined())
    #expect(try scratch.files(below: "out").isEmpty)
    // A client can be right although the rules of its server are not.
    let client = try generate(
      "-I",
      "protos",
      "-I",
      protos,
      "-o",
      output,
      "--option",
      "Server=false",
      "rest.proto"
    )
    #expect(client.exitCode == 0)
    let warnings = expected.map { $0.replacing(": error: ", with: ": warning: ") }
    #expect(client.errors == warnings.joined())
  }

  @Test func rulesThatMayBeMeantAreWarnedOf() throws {
    let rules = """
      syntax = "proto3";
      package rest;
      import "google/api/annotations.proto";
      message Page { string id = 1; }
      service R { rpc A(Page) returns (Page) { option (google.api.http) = { get: "/v1/{id}" body: "*" }; } }
      service S { rpc B(Page) returns (Page) { option (google.api.http) = { get: "/v1/{id}" }; } }
      """
    try scratch.write(rules, to: "protos/rest.proto")
    let protos = TestFolders.root.appending(path: "Protos").path
    let output = try scratch.directory("out")
    let command = try generate("-I", "protos", "-I", protos, "-o", output, "rest.proto")
    #expect(command.exitCode == 0)
    #expect(
      command.errors == """
        protos/rest.proto:5:42: warning: rest.R.A (GET /v1/{id}): many clients and proxies send no body with GET: leave it \
        out, and its fields can be in the query
        protos/rest.proto:6:42: warning: rest.R.A (GET /v1/{id}) and rest.S.B (GET /v1/{id}) have the same path: no server \
        can have both

        """
    )
  }

  @Test func filesThatHideEachOtherAreNamed() throws {
    try scratch.write("syntax = \"proto3\";\npackage c;\nmessage C {}", to: "other/sub/b.proto")
    let output = try scratch.directory("out")
    let both = try generate("-I", "protos", "-I", "other", "-o", output, "a.proto", "other/sub/b.proto")
    #expect(both.exitCode == 1)
    #expect(
      both.errors
        == "other/sub/b.proto: error: Its name in imports is \"sub/b.proto\", which is that of \"protos/sub/b.proto\" too, in an "
        + "earlier one of the include directories (-I, or 'includes'): only one of the two can be compiled. Rename one, or "
        + "name a directory above both, so that the names begin with different folders.\n"
    )
    let imported = try generate("-I", "protos", "-I", "other", "-o", output, "a.proto")
    #expect(imported.exitCode == 0)
    #expect(
      imported.errors
        == "other/sub/b.proto: warning: It is not used: \"sub/b.proto\" is protos/sub/b.proto, in an earlier one of the include "
        + "directories (-I, or 'includes').\n"
    )
    // A copy is no other file.
    let copy = try #require(try scratch.files(below: "protos")["sub/b.proto"])
    try scratch.write(copy, to: "other/sub/b.proto")
    #expect(try generate("-I", "protos", "-I", "other", "-o", output, "a.proto").errors == "")
  }

  @Test func servicesWithoutClientsAndServersAreWarnedOf() throws {
    try scratch.write(
      "syntax = \"proto3\";\nmessage M {}\nservice S { rpc Get(M) returns (M); }",
      to: "protos/s.proto"
    )
    let output = try scratch.directory("out")
    let neither = ["--option", "Client=false", "--option", "Server=false"]
    let arguments = ["generate", "-I", "protos", "-o", output, "s.proto"] + neither
    let command = try Command.product("switchboard", arguments, in: scratch.path)
    #expect(command.exitCode == 0)
    #expect(
      command.errors
        == "switchboard: warning: options Client and Server are both false: of services, only their Metadata is generated\n"
    )
    let described = try Command.product(
      "switchboard",
      arguments + ["--option", "ReflectionData=true"],
      in: scratch.path
    )
    #expect(described.errors == "")
  }

  /// As the plugins do.
  @Test func aConfigurationPutsPathsIntoNames() throws {
    try scratch.write(
      #"{"protos": ["protos/a.proto", "protos/sub/b.proto"], "includes": ["protos"]}"#,
      to: "a.json"
    )
    let output = try scratch.directory("out")
    #expect(try generate("--configuration", "a.json", "-o", output).exitCode == 0)
    #expect(try scratch.files(below: "out").keys.sorted() == ["a.pb.swift", "sub_b.pb.swift"])
  }

  @Test func messagesCannotControlTheTerminal() throws {
    let source = "syntax = \"proto3\";\nimport \"x\u{1B}[2J\u{202E}.proto\";\n"
    try scratch.write(source, to: "protos/bad.proto")
    let command = try generate("-I", "protos", "-o", scratch.path, "bad.proto")
    #expect(command.exitCode == 1)
    #expect(command.errors.contains(#"x\u{1B}[2J\u{202E}.proto"#), "\(command.errors)")
    #expect(!command.errors.contains("\u{1B}"))
  }

  @Test func leavesUnchangedFilesAlone() throws {
    let output = try scratch.directory("out")
    #expect(try generate("-I", "protos", "-o", output, "a.proto").exitCode == 0)
    let past: [FileAttributeKey: Date] = [.modificationDate: Date(timeIntervalSince1970: 1_000_000)]
    try FileManager.default.setAttributes(past, ofItemAtPath: output + "/a.pb.swift")
    #expect(try generate("-I", "protos", "-o", output, "a.proto").exitCode == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: output + "/a.pb.swift")
    #expect(attributes[.modificationDate] as? Date == past[.modificationDate])
  }

  @Test func reportsErrorsInProtos() throws {
    let command = try generate("-I", "protos", "-o", scratch.path, "broken.proto")
    #expect(command.exitCode == 1)
    #expect(command.errors == "protos/broken.proto:3:11: error: Missing field number.\n")
    let path = scratch.path + "/protos/broken.proto"
    #expect(try generate("-I", "protos", "-o", scratch.path, path).errors.hasPrefix(path + ":3:11: error: "))
    #expect(try scratch.files(below: ".").keys.filter { $0.hasSuffix(".swift") } == [])
  }

  @Test func readsMappingsFromAPathWithACommaAndABackslash() throws {
    try scratch.write("syntax = \"proto3\";", to: "protos/other.proto")
    let path = try scratch.directory(#"of A, B\"#) + "/modules.txt"
    try "mapping { module_name: \"Other\" proto_file_path: \"other.proto\" }"
      .write(toFile: path, atomically: true, encoding: .utf8)
    let option = "ProtoPathModuleMappings=\(path)"
    let output = try scratch.directory("out")
    let command = try generate("-I", "protos", "--option", option, "-o", output, "a.proto")
    #expect(command.exitCode == 0, "\(command.errors)")
    #expect(try scratch.files(below: "out").keys.sorted() == ["a.pb.swift"])
  }

  @Test func reportsBadOptionsAsUsage() throws {
    for option in ["Visbility=Public", "Visibility=Secret"] {
      let command = try generate("-I", "protos", "--option", option, "-o", scratch.path, "a.proto")
      #expect(command.exitCode == 2)
      #expect(command.errors.hasPrefix("switchboard: "))
      #expect(command.errors.contains("Visibility"))
    }
  }

  @Test(arguments: ["new", "new/in/a/row", "./new//folder/", "out/../new"])
  func makesTheOutputDirectory(_ name: String) throws {
    _ = try scratch.directory("out")
    #expect(try generate("-I", "protos", "-o", name, "a.proto").exitCode == 0)
    #expect(try generate("-I", "protos", "-o", scratch.path + "/absolute/" + name, "a.proto").exitCode == 0)
    #expect(try scratch.files(below: name).keys.contains("a.pb.swift"))
    #expect(try scratch.files(below: "absolute/" + name).keys.contains("a.pb.swift"))
  }

  @Test func createsNoDirectoryIfNothingIsGenerated() throws {
    #expect(try generate("-I", "protos", "-o", "new", "broken.proto").exitCode == 1)
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/new"))
  }

  @Test func reportsAnUnusableOutputDirectory() throws {
    let below = try generate("-I", "protos", "-o", "protos/a.proto/below", "a.proto")
    #expect(below.exitCode == 1)
    #expect(below.errors == "switchboard: ./protos/a.proto/below: Not a directory \(outputHint)\n")
    let file = try generate("-I", "protos", "-o", "protos/a.proto", "a.proto")
    #expect(file.exitCode == 1)
    #expect(file.errors == "switchboard: protos/a.proto: Not a directory \(outputHint)\n")
  }

  private let outputHint = "(--output must name a writable directory, or one that can be created)"

  @Test func reportsTheFirstFileThatCannotBeWritten() throws {
    let names = (0..<60).map { "many/f\($0).proto" }
    for (index, name) in names.enumerated() {
      try scratch.write("syntax = \"proto3\"; package p\(index); message M {}", to: name)
    }
    // A file cannot replace a directory.
    for index in [23, 31, 50] { _ = try scratch.directory("out/many/f\(index).pb.swift/inside") }
    let arguments = ["generate", "-o", scratch.path + "/out"] + names
    for _ in 0..<5 {
      let command = try Command.product("switchboard", arguments, in: scratch.path)
      #expect(command.exitCode == 1)
      #expect(command.errors == "switchboard: \(scratch.path)/out/many/f23.pb.swift: Is a directory\n")
    }
    #expect(try scratch.files(below: "out").keys.contains("many/f22.pb.swift"))
    #expect(try !scratch.files(below: "out").keys.contains { $0.hasSuffix(".tmp") })
  }

  @Test func warnsOfMissingIncludeDirectories() throws {
    let command = try generate("-I", "protos", "-I", "nowhere", "-o", scratch.path, "a.proto")
    #expect(command.exitCode == 0)
    #expect(
      command.errors == "nowhere: warning: No such directory, but -I or 'includes' names it.\n"
    )
  }

  @Test func writesExactlyWhatABuildExpects() throws {
    let output = try scratch.directory("out")
    let command = try generate(
      "-I",
      "protos",
      "-o",
      output,
      "--expect",
      "a.pb.swift",
      "--expect",
      "a.grpc.swift",
      "a.proto"
    )
    #expect(command.exitCode == 0)
    #expect(try scratch.files(below: "out").keys.sorted() == ["a.grpc.swift", "a.pb.swift"])
    let surplus = try generate("-I", "protos", "-o", output, "--expect", "b.pb.swift", "a.proto")
    #expect(surplus.exitCode == 1)
    #expect(
      surplus.errors.hasPrefix("switchboard: the generator produces a.pb.swift, which no --expect names")
    )
  }

  @Test func takesAConfiguration() throws {
    let json = """
      {
        "protos": ["protos/sub/b.proto"],
        "includes": ["protos"],
        "options": {"Visibility": "Public", "FileNaming": "DropPath", "ExtraModuleImports": ["One", "Two"]}
      }
      """
    try scratch.write(json, to: "switchboard.json")
    let output = try scratch.directory("out")
    let arguments = ["generate", "--configuration", scratch.path + "/switchboard.json", "-o", output]
    let configured = try Command.product("switchboard", arguments)
    #expect(configured.exitCode == 0, "\(configured.errors)")
    let files = try scratch.files(below: "out")
    #expect(files.keys.sorted() == ["b.pb.swift"])
    #expect(files["b.pb.swift"]?.contains("public struct") == true)
    #expect(files["b.pb.swift"]?.contains("import One\n") == true)

    // An option on the command line overrides the configuration.
    let overriding = ["--option", "FileNaming=FullPath", scratch.path + "/protos/a.proto"]
    #expect(try Command.product("switchboard", arguments + overriding).exitCode == 0)
    #expect(try scratch.files(below: "out").keys.sorted() == ["a.pb.swift", "b.pb.swift"])
  }

  @Test func reportsABadConfiguration() throws {
    for (json, problem) in [
      ("{\n  \"protos\" []", ":2:12: error: not valid JSON: expected \":\""),
      ("{\n  \"protos\": [\"a.proto\",\n  ]}", ":2:23: error: not valid JSON: a trailing comma"),
      ("{\"options\": {\"Server\": true},\n}", ":1:29: error: not valid JSON: a trailing comma"),
      ("{\n  // all of them\n  \"protos\": []}", ":2:3: error: not valid JSON: a comment"),
      ("{\"protos\": [] /* none */}", ":1:15: error: not valid JSON: a comment"),
      (#"{"protos": ["a.proto"], "options": }"#, ":1:36: error: not valid JSON: expected a value"),
      (#"{"files": []}"#, ":1:2: error: unknown key \"files\": the keys are protos, includes and options"),
      (
        #"{"OpenAPI": "a.json"}"#,
        ":1:2: error: unknown key \"OpenAPI\": the keys are protos, includes and options; a document of OpenAPI is made by "
          + "'switchboard openapi'"
      ),
      (
        #"{"Visibility": "Public"}"#,
        ":1:2: error: unknown key \"Visibility\": the keys are protos, includes and options; an option belongs in 'options'"
      ),
      ("{}", ": error: no .proto file in its directory or below"),
      (#"{"protos": []}"#, ": error: 'protos' is empty"),
      (
        "{\n \"includes\": []}",
        ":2:2: error: 'includes' is empty: name the directories to which imports are relative, or leave it out for the "
          + "file's own"
      ),
      (
        "{\n \"protos\": [\"sub/*.proto\"]}",
        ":2:2: error: 'protos' has the pattern 'sub/*.proto', and patterns are not read: name each file, or leave 'protos' out "
          + "for every .proto in the directory of this file and below"
      ),
      (#"{"protos": ["a", "b", "a"]}"#, ": error: 'protos' names a twice"),
      (
        "{\"options\": {\"Server\": true,\n  \"Server\": false}}",
        ":2:3: error: the key \"Server\" is given twice"
      ),
      (
        "{\n\"protos\": \"a.proto\"}",
        ":2:1: error: 'protos' has the wrong type: the file must be an object whose 'protos' and 'includes' are lists of "
          + "strings and whose 'options' are an object"
      ),
    ] {
      try scratch.write(json, to: "empty/target.json")
      let command = try generate("--configuration", "empty/target.json", "-o", scratch.path)
      #expect(command.exitCode == 1)
      #expect(command.errors == "empty/target.json\(problem)\n")
    }
  }

  /// Combining marks once took a minute.
  @Test(arguments: [("{\n\"?\": []}", 2), ("{\"options\": {\"?\": true}}", 1), ("{\"protos\": [\"?\"]}", 1)])
  func longTextInAConfigurationIsRefused(_ json: String, _ line: Int) throws {
    try scratch.write(json.replacing("?", with: WorstText.marksInTurns.text(1 << 20)), to: "long/target.json")
    let command = try generate("--configuration", "long/target.json", "-o", scratch.path)
    #expect(command.exitCode == 1)
    #expect(command.errors.hasPrefix("long/target.json:\(line):"))
    #expect(command.errors.hasSuffix(": error: a key or a value is longer than 4096 bytes\n"))
  }

  /// A wrong option of a configuration is reported where it is.
  @Test func aMisspeltOptionIsReportedWithItsLine() throws {
    for (options, problem) in [
      (
        #""Visibility": "Public",\n    "Sever": false"#, "3:5: error: unknown option 'Sever': the options are"
      ),
      (
        #""OpenAPI": "a.json""#,
        "2:15: error: unknown option 'OpenAPI' (a document of OpenAPI is made by 'switchboard openapi', or by"
      ),
      (#""Server": true,\n\n    "Visibility": "Open""#, "4:5: error: option Visibility has the value 'Open'"),
      (
        #""Services": false,\n    "TestClient": true"#,
        "3:5: error: option TestClient has no effect if Services"
      ),
    ] {
      let json = #"{"protos": ["protos/a.proto"],\n  "options": {\#(options)}}"#.replacing("\\n", with: "\n")
      try scratch.write(json, to: "wrong.json")
      let command = try generate("--configuration", "wrong.json", "-o", scratch.path)
      #expect(command.exitCode == 1)
      #expect(command.errors.hasPrefix("wrong.json:\(problem)"), "\(command.errors)")
    }
  }

  /// A mapping that matches nothing would have no effect.
  @Test(arguments: [
    (#"message: "a.Typo""#, "message 'a.Typo'"), (#"service: "a.A""#, "service 'a.A'"),
    (#"method: ["a.S.Get", "a.S.Got"]"#, "method 'a.S.Got'"),
    (#"method: "a.S/Get""#, "method 'a.S/Get': it is written 'a.S.Get'"),
    (#"message: "A""#, "message 'A': it is written 'a.A'"),
  ]) func aPayloadMappingThatMatchesNothingIsReported(_ selector: String, _ what: String) throws {
    let proto = """
      syntax = "proto3";
      package a;
      message A {}
      service S { rpc Get(A) returns (A); }
      """
    try scratch.write(proto, to: "protos/s.proto")
    try scratch.write("\n\npayload { \(selector) marshaller: \"M<_>\" }\n", to: "payloads.txt")
    let output = try scratch.directory("out")
    let command = try generate(
      "-I",
      "protos",
      "-o",
      output,
      "--option",
      "PayloadMappings=payloads.txt",
      "s.proto"
    )
    #expect(command.exitCode == 1)
    #expect(
      command.errors
        == "switchboard: payload mappings in payloads.txt, line 3: no .proto file here has the \(what)\n"
    )
  }

  /// Nor would one for what no service that is generated has.
  @Test(arguments: [
    (
      #"message: ["a.A", "a.Part"]"#,
      "the message 'a.Part' is not what a method that is generated takes or returns"
    ),
    (
      #"message: "a.Elsewhere""#,
      "the message 'a.Elsewhere' is not what a method that is generated takes or returns"
    ),
    (#"service: "a.Other""#, "the service 'a.Other' is only imported"),
    (#"method: "a.Other.Get""#, "the method 'a.Other.Get' is only imported"),
  ]) func aPayloadMappingWithoutAnEffectIsReported(_ selector: String, _ reason: String) throws {
    let other = "message Elsewhere {} service Other { rpc Get(Elsewhere) returns (Elsewhere); }"
    let own =
      "message Part {} message A { Part part = 1; Elsewhere other = 2; } service S { rpc Get(A) returns (A); }"
    try scratch.write("syntax = \"proto3\"; package a; \(other)", to: "protos/other.proto")
    try scratch.write(
      "syntax = \"proto3\"; package a; import \"other.proto\"; \(own)",
      to: "protos/s.proto"
    )
    try scratch.write("payload { \(selector) marshaller: \"M<_>\" }\n", to: "payloads.txt")
    let output = try scratch.directory("out")
    let flags = ["-I", "protos", "-o", output, "--option", "PayloadMappings=payloads.txt", "s.proto"]
    let command = try Command.product("switchboard", ["generate"] + flags, in: scratch.path)
    #expect(command.exitCode == 1)
    #expect(
      command.errors
        == "switchboard: payload mappings in payloads.txt, line 1: the payload has no effect: \(reason)\n"
    )
  }

  /// So would that of a file that does not exist. One that no file imports may be for another run.
  @Test func aModuleMappingOfAFileThatDoesNotExistIsReported() throws {
    try scratch.write(
      """
      mapping { module_name: "B" proto_file_path: "sub/b.proto" proto_file_path: "google/protobuf/any.proto" }
      mapping { module_name: "C"
        proto_file_path: "protos/a.proto" }
      """,
      to: "modules.txt"
    )
    let output = try scratch.directory("out")
    let flags = ["generate", "-I", "protos", "-o", output, "--option", "ProtoPathModuleMappings=modules.txt"]
    let command = try Command.product("switchboard", flags + ["a.proto"], in: scratch.path)
    #expect(command.exitCode == 1)
    #expect(
      command.errors
        == "switchboard: module mappings in modules.txt, line 3: there is no file 'protos/a.proto'; paths are as in imports\n"
    )
    try scratch.write("mapping { module_name: \"B\" proto_file_path: \"sub/b.proto\" }", to: "modules.txt")
    #expect(try Command.product("switchboard", flags + ["a.proto"], in: scratch.path).exitCode == 0)
    #expect(try scratch.files(below: "out")["a.pb.swift"]?.contains("import B\n") == true)
  }

  @Test func optionsThatLeaveNothingToGenerateAreReported() throws {
    try scratch.write(
      #"{"protos": ["protos/a.proto"], "includes": ["protos"],\n "options": {"Services": false, "Messages": false}}"#
        .replacing("\\n", with: "\n"),
      to: "none.json"
    )
    let both = try generate("--configuration", "none.json", "-o", scratch.path)
    #expect(both.exitCode == 1)
    #expect(
      both.errors
        == "none.json:2:33: error: options Messages and Services are both false: nothing is left to generate\n"
    )
    let output = try scratch.directory("out")
    let services = try generate("-I", "protos", "-o", output, "--option", "Messages=false", "a.proto")
    #expect(services.exitCode == 0)
    #expect(
      services.errors
        == "switchboard: warning: nothing is generated: no .proto file has a service, and the options do not ask "
        + "for messages\n"
    )
    #expect(try scratch.files(below: "out").isEmpty)
  }

  /// It is not that of the directory.
  @Test func anEmptyPathOfMappingsIsReported() throws {
    try scratch.write(
      #"{"protos": ["protos/a.proto"], "includes": ["protos"], "options": {"PayloadMappings": ""}}"#,
      to: "path.json"
    )
    let run = try generate("--configuration", "path.json", "-o", scratch.path)
    #expect(run.exitCode == 1)
    #expect(
      run.errors == "path.json:1:68: error: option PayloadMappings has an empty value: it must be a path\n"
    )
  }

  /// It may be for another target's files.
  @Test func optionsOfServicesWithoutServicesAreReported() throws {
    let flags = ["ReflectionData", "TestClient", "Server"].flatMap { ["--option", "\($0)=true"] }
    let run = try Command.product(
      "switchboard",
      ["generate", "-I", "protos", "-o", try scratch.directory("idle")] + flags + ["a.proto"],
      in: scratch.path
    )
    #expect(run.exitCode == 0)
    #expect(
      run.errors
        == ["ReflectionData", "TestClient"].map {
          "switchboard: warning: option \($0) has no effect: no .proto file has a service\n"
        }.joined()
    )
  }

  /// Only the last would count.
  @Test func anOptionThatIsGivenTwiceIsReported() throws {
    let flags = ["generate", "-I", "protos", "-o", scratch.path, "--option", "Visibility=Public", "a.proto"]
    let twice = try Command.product(
      "switchboard",
      flags + ["--option", "Visibility=Package"],
      in: scratch.path
    )
    #expect(twice.exitCode == 2)
    let problem = "option Visibility is given twice, as 'Visibility=Public' and 'Visibility=Package'"
    #expect(twice.errors == "switchboard: \(problem)\n")
    let list = #"{"protos": ["protos/a.proto"],\n "options": {"Visibility": ["Public", "Package"]}}"#
    try scratch.write(list.replacing("\\n", with: "\n"), to: "list.json")
    let listed = try generate("--configuration", "list.json", "-o", scratch.path)
    #expect(listed.exitCode == 1)
    #expect(listed.errors == "list.json:2:14: error: \(problem)\n")
    // A flag may replace what the file says, also by the same.
    let json = #"{"protos": ["protos/a.proto"], "includes": ["protos"], "options": {"Visibility": "Public"}}"#
    try scratch.write(json, to: "one.json")
    let replaced = try generate(
      "--configuration",
      "one.json",
      "-o",
      try scratch.directory("out"),
      "--option",
      "Visibility=Public"
    )
    #expect(replaced.exitCode == 0, "\(replaced.errors)")
  }

  @Test func saysWhyAConfigurationCannotBeRead() throws {
    for (name, reason) in [("gone.json", "No such file or directory"), ("protos", "Is a directory")] {
      let command = try generate("--configuration", name, "-o", scratch.path)
      #expect(command.exitCode == 1)
      #expect(command.errors == "switchboard: \(name): \(reason)\n")
    }
  }

  @Test func usesEveryProtoNextToAConfigurationThatNamesNone() throws {
    let target = try Scratch([
      "p/switchboard.json": "{}",
      "p/a.proto": "syntax = \"proto3\"; import \"sub/b.proto\"; message A { B b = 1; }",
      "p/sub/b.proto": "syntax = \"proto3\"; message B {}",
      "p/.hidden/c.proto": "junk",
      "d.proto": "junk",
    ])
    for folder in ["p/", ""] {
      let directory = target.path + (folder.isEmpty ? "/p" : "")
      let arguments = [
        "generate", "--configuration", folder + "switchboard.json", "--output", target.path + "/out",
      ]
      let command = try Command.product("switchboard", arguments, in: directory)
      #expect(command.exitCode == 0, "\(command.errors)")
      #expect(try target.files(below: "out").keys.sorted() == ["a.pb.swift", "sub_b.pb.swift"])
      try FileManager.default.removeItem(atPath: target.path + "/out")
    }
    try target.write("message {", to: "p/sub/b.proto")
    let broken = try Command.product(
      "switchboard",
      ["generate", "--configuration", "p/switchboard.json", "-o", "out"],
      in: target.path
    )
    #expect(broken.exitCode == 1)
    #expect(broken.errors.contains("p/sub/b.proto:1:9: error: Expected message name.\n"))
  }

  @Test func hintsAtTheRootsOfImports() throws {
    try scratch.write("{}", to: "switchboard.json")
    try scratch.write("syntax = \"proto3\"; import \"other/gone.proto\";", to: "c.proto")
    let command = try generate("--configuration", "switchboard.json", "-o", scratch.path, "c.proto")
    #expect(command.exitCode == 1)
    #expect(
      command.errors.contains("other/gone.proto: error: File not found in any include directory (-I): ")
    )
    #expect(command.errors.contains("switchboard.json: note: Imports are relative to 'includes'."))
  }

  @Test func explainsItself() throws {
    let help = try Command.product("switchboard", ["--help"])
    #expect(help.exitCode == 0)
    #expect(String(decoding: help.output, as: UTF8.self).contains("\n  generate "))
    let topic = String(
      decoding: try Command.product("switchboard", ["help", "generate"]).output,
      as: UTF8.self
    )
    let unknown = try generate("-o", "out", "--option", "Key=Value", "a.proto").errors
    let options = try #require(unknown.split(separator: "the options are ").last)
    let words = Set(topic.split { ", \n".contains($0) })
    for option in options.split(whereSeparator: { ", \n".contains($0) }) {
      #expect(words.contains(option), "\(option)")
    }
    #expect(topic.contains(" TestClient,"))
    let version = try Command.product("switchboard", ["--version"])
    #expect(version.exitCode == 0)
    #expect(String(decoding: version.output, as: UTF8.self).hasPrefix("switchboard 0."))
    let wrong = try Command.product("switchboard", ["generate", "--wrong"])
    #expect(wrong.exitCode == 2)
    #expect(wrong.errors.hasPrefix("switchboard: unknown flag '--wrong': expected "))
    #expect(wrong.errors.hasSuffix("\nTry 'switchboard help generate'.\n"))
  }
}
