import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

@testable import SwitchboardGenerator

@Suite("Options")
struct OptionTests {
  private func response(
    parameter: String,
    files: [String] = ["a.proto"]
  ) throws -> Google_Protobuf_Compiler_CodeGeneratorResponse {
    let request = Google_Protobuf_Compiler_CodeGeneratorRequest.with {
      $0.parameter = parameter
      $0.fileToGenerate = files
      $0.protoFile = files.map { name in .with { $0.name = name } }
    }
    let bytes = try Generator.respond(to: request.serializedBytes())
    return try Google_Protobuf_Compiler_CodeGeneratorResponse(serializedBytes: bytes)
  }

  @Test("A response says what the generator supports")
  func support() throws {
    let response = try response(parameter: "")
    #expect(response.supportedFeatures == 3)
    #expect(response.minimumEdition == 998)
    #expect(response.maximumEdition == 1001)
    #expect(response.file.map(\.name) == ["a.pb.swift"])
    #expect(!response.hasError)
  }

  @Test(
    "What is wrong with options comes with what is accepted",
    arguments: [
      ("Visibility=Secret", "it must be one of Internal, Package, Public"),
      ("FileNaming=Short", "it must be one of FullPath, PathToUnderscores, DropPath"),
      ("Server=maybe", "it must be true or false"),
      ("Color=red", "the options are Client, ExtraModuleImports, FileNaming, FullRegistryNames,"),
      (
        "visibility=Public", "unknown option 'visibility' (did you mean Visibility?): the options are Client,"
      ),
      (
        "Messages=false,Services=0",
        "options Messages and Services are both false: nothing is left to generate"
      ),
      (
        "Visibility=Public,Visibility=Internal",
        "option Visibility is given twice, as 'Visibility=Public' and 'Visibility=Internal'"
      ),
      ("Visibility", "it must be one of Internal, Package, Public"),
      ("ExtraModuleImports=a b", "it must be the name of a module"),
      ("ProtoPathModuleMappings=", "it must be a path"),
      ("ProtoPathModuleMappings=a.txt", "cannot be read here"),
      ("TestClientOf=", "it must be the name of a module"),
      ("TestClientOf=true", "it must be the name of a module"),
      ("ExtraModuleImports=false", "it must be the name of a module"),
      ("TestClientOf=Shop,TestClient=true", "a client for tests is generated with the others, or alone"),
      ("TestClientOf=Shop,Client=true", "options Client and TestClientOf: a client for tests"),
      (
        "TestClientOf=Shop,ReflectionData=true",
        "option ReflectionData has no effect beside TestClientOf: nothing"
      ),
      (
        "TestClientOf=Shop,FullRegistryNames=1",
        "option FullRegistryNames has no effect beside TestClientOf: nothing"
      ),
      (
        "TestClientOf=Shop,Client=false",
        "option TestClientOf has no effect if Client is false: a test client"
      ),
      ("TestClient=true,Services=false", "option TestClient has no effect if Services is false"),
      ("Services=false,Server=true", "option Server has no effect if Services is false"),
      ("Services=false,PayloadMappings=a.txt", "option PayloadMappings has no effect if Services is false"),
      ("FullRegistryNames=1,Messages=false", "option FullRegistryNames has no effect if Messages is false"),
      ("PayloadMappings=", "it must be a path"),
      ("PayloadMappings=a.txt", "cannot be read here"),
    ]
  )
  func errors(parameter: String, expected: String) throws {
    let response = try response(parameter: parameter)
    #expect(response.error.contains(expected), "\(response.error)")
    #expect(response.file.isEmpty)
  }

  @Test("Only modules to import may be given more than once")
  func repetition() throws {
    try GeneratorOptions.checkRepetition(["ExtraModuleImports=A", "ExtraModuleImports=B", "Server=1"])
    let error = #expect(throws: GeneratorError.self) {
      try GeneratorOptions.checkRepetition(["Server=1", " Server = 1"])
    }
    #expect(error?.option == " Server = 1")
  }

  @Test("All options are read, with spaces around them")
  func reading() throws {
    let options = try GeneratorOptions(
      parameter:
        " Visibility=Public, Server=false,Client=false,Messages=false,TestClient=false,"
        + "FileNaming=DropPath,KeepMethodCasing=true,ProtoPathModuleMappings=a/b.txt,ExtraModuleImports=A,"
        + "ExtraModuleImports=B,UseAccessLevelOnImports=true,ReflectionData=true"
    )
    #expect(options.visibility == .public)
    #expect(!options.generatesServers && !options.generatesClients)
    #expect(!options.generatesMessages)
    #expect(
      try !GeneratorOptions(parameter: "Services=false,Client=false,TestClient=false").generatesServices
    )
    #expect(
      try GeneratorOptions(parameter: "TestClientOf=Shop,Messages=false,ReflectionData=false")
        .generatesTestClients
    )
    #expect(options.keepsMethodCasing && options.generatesReflectionData)
    #expect(options.fileNaming == .dropPath)
    #expect(options.moduleMappingsPath == "a/b.txt")
    #expect(options.extraModuleImports == ["A", "B"])
    #expect(options.usesAccessLevelOnImports)
  }

  @Test(
    "A value may have commas and backslashes, which are escaped",
    arguments: [
      (#"PayloadMappings=a\,b.txt"#, ["PayloadMappings=a,b.txt"]), (#"A=\,,\,=B"#, ["A=,", ",=B"]),
      (#"A=C:\dir\\,B=\"#, [#"A=C:\dir\"#, #"B=\"#]), (", A=1,, ,B=2 ,", ["A=1", "B=2"]),
      (#"A=\\\,B"#, [#"A=\,B"#]), ("", []),
    ]
  )
  func escapes(parameter: String, options: [String]) throws {
    #expect(OptionList.options(in: parameter) == options)
    #expect(OptionList.options(in: OptionList.parameter(options)) == options)
  }

  @Test("A path with a comma is one path, and an error that breaks it says how it is written")
  func commas() throws {
    let options = try GeneratorOptions(parameter: #"PayloadMappings=a\,b/c.txt,Visibility=Public"#)
    #expect(options.payloadMappingsPath == "a,b/c.txt" && options.visibility == .public)
    let broken = try response(parameter: "PayloadMappings=a,b/c.txt")
    let hint = "unknown option 'b/c.txt': a comma in a value is written '\\,'; the options are "
    #expect(broken.error.hasPrefix(hint), "\(broken.error)")
  }

  @Test("Two files of one name are an error that says what helps")
  func duplicates() throws {
    let response = try response(parameter: "FileNaming=DropPath", files: ["a/x.proto", "b/x.proto"])
    #expect(response.error.contains("b/x.proto and a/x.proto would both be written to x.pb.swift"))
  }

  @Test(
    "Two files of one name in different directories are an error by default, because a module cannot have them"
  )
  func sameNames() throws {
    let refused = try response(parameter: "", files: ["a/x.proto", "b/x.proto"])
    #expect(refused.error.hasPrefix("b/x.proto and a/x.proto would both have a file x.pb.swift"))
    #expect(refused.error.contains("use FileNaming=PathToUnderscores"))
    let asked = try response(parameter: "FileNaming=FullPath", files: ["a/x.proto", "b/x.proto"])
    #expect(asked.file.map(\.name) == ["a/x.pb.swift", "b/x.pb.swift"])
    let flat = try response(parameter: "FileNaming=PathToUnderscores", files: ["a/x.proto", "b/x.proto"])
    #expect(flat.file.map(\.name) == ["a_x.pb.swift", "b_x.pb.swift"])
    #expect(try response(parameter: "", files: ["a/x.proto", "b/y.proto"]).error.isEmpty)
  }

  @Test("Files of a module that separate runs generate can have different registries")
  func separateRuns() throws {
    func registry(_ parameter: String, _ folder: String) throws -> Substring? {
      let request = Google_Protobuf_Compiler_CodeGeneratorRequest.with {
        $0.parameter = parameter
        $0.fileToGenerate = ["\(folder)/options.proto"]
        $0.protoFile = [
          .with {
            $0.name = "\(folder)/options.proto"
            $0.package = "shop"
            $0.messageType = [
              .with {
                $0.name = folder.uppercased()
                $0.extensionRange = [
                  .with {
                    $0.start = 100
                    $0.end = 200
                  }
                ]
              }
            ]
            $0.extension = [
              .with {
                $0.name = "note_\(folder)"
                $0.number = 100
                $0.label = .optional
                $0.type = .string
                $0.extendee = ".shop.\(folder.uppercased())"
              }
            ]
          }
        ]
      }
      let response = try Google_Protobuf_Compiler_CodeGeneratorResponse(
        serializedBytes: Generator.respond(to: request.serializedBytes())
      )
      #expect(response.error.isEmpty, "\(response.error)")
      let names = response.file.first?.content.split { !$0.isLetter && $0 != "_" } ?? []
      return names.first { $0.hasSuffix("_Extensions") }
    }
    for folder in ["a", "b"] { #expect(try registry("", folder) == "Shop_Options_Extensions") }
    #expect(try registry("FullRegistryNames=true", "a") == "Shop_AOptions_Extensions")
    #expect(try registry("FullRegistryNames=true", "b") == "Shop_BOptions_Extensions")
  }

  @Test(
    "No file is written outside of the output directory",
    arguments: ["../x.proto", "a/../../x.proto", "/x.proto", "./x.proto", "a//x.proto"]
  )
  func outside(name: String) throws {
    let response = try response(parameter: "", files: [name])
    #expect(response.error.hasPrefix("\(name): its code would be written to "), "\(response.error)")
    #expect(response.file.isEmpty)
  }

  @Test(
    "A name cannot end the comment that names the source",
    arguments: ["a\nimport B.proto", "a\u{2028}b.proto"]
  )
  func controls(name: String) throws {
    for naming in ["", "FileNaming=DropPath", "FileNaming=PathToUnderscores"] {
      let response = try response(parameter: naming, files: [name, "\(name)/x.proto"])
      #expect(response.error.contains("control characters"), "\(response.error)")
      #expect(!response.error.contains(name))
      #expect(response.file.isEmpty)
    }
  }

  @Test("Messages=false writes no messages")
  func withoutMessages() throws {
    #expect(try response(parameter: "Messages=false").file.isEmpty)
  }

  @Test("Mappings are read with lists, comments and either kind of quote")
  func mappings() throws {
    let mappings = try ModuleMappings(
      text: """
        # A comment
        mapping: { module_name: "A" proto_file_path: ["a.proto", 'b.proto'], proto_file_path: "c.proto"; }
        mapping { module_name: "B" proto_file_path: "d.proto" }
        """
    )
    #expect(["a.proto", "b.proto", "c.proto"].allSatisfy { mappings.module(of: $0) == "A" })
    #expect(mappings.module(of: "d.proto") == "B")
    #expect(mappings.module(of: "e.proto") == nil)
    #expect(mappings.module(of: "google/protobuf/any.proto") == "SwitchboardProtobuf")
    let escaped = try ModuleMappings(text: #"mapping { module_name: "A" proto_file_path: "a\"\\\n'.proto" }"#)
    #expect(escaped.module(of: "a\"\\\n'.proto") == "A")
  }

  @Test("A file of mappings without any would have no effect")
  func emptyMappings() {
    let modules = #expect(throws: GeneratorError.self) {
      try ModuleMappings(text: "# None yet\n", path: "m.txt")
    }
    #expect(modules?.description == "module mappings in m.txt: there is no mapping")
    let payloads = #expect(throws: GeneratorError.self) { try PayloadMappings(text: "") }
    #expect(payloads?.description == "payload mappings: there is no payload")
  }

  @Test(
    "Broken mappings give the line",
    arguments: [
      "mapping {", "mapping { module_name: \"A\"", "mapping { module_name: \"A\" } x",
      "mapping { module_name \"A\" }",
      "mapping { other: \"A\" }",
      "mapping { module_name: \"a b\" }", "mapping { module_name: \"A }",
      "mapping { proto_file_path: [\"a\" }", "mapping { module_name: \"A\\\" }",
      "mapping { module_name: \"\\x41\" }",
    ]
  )
  func brokenMappings(text: String) {
    #expect {
      try ModuleMappings(text: text)
    } throws: { error in
      "\(error)".hasPrefix("module mappings, line 1: ")
    }
  }
}
