import Foundation
import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import Testing

extension Generator {
  /// A generator for a request, as it is without its encoding.
  init(
    request: Google_Protobuf_Compiler_CodeGeneratorRequest,
    mappings: [String: String] = [:]
  ) throws(GeneratorError) {
    guard let bytes: [UInt8] = try? request.serializedBytes() else { throw GeneratorError("too large") }
    try self.init(request: bytes, mappings: mappings)
  }
}

/// A folder of `.proto` files with the expected output of the generator.
///
/// It may contain `options.txt` with the parameter of the request, the files named there, and `descriptors.bin` with
/// the compiled files, if libprotoc is too old to compile them.
struct GoldenCase: CustomTestStringConvertible {
  let name: String

  /// All cases; they are also built as Swift modules.
  static let all = [
    "Accessors", "Comments", "Editions", "Editions2024", "Extensions", "HugeEnum", "Mappings", "Maps",
    "Names", "Oneofs", "Options",
    "Prefixes", "Proto2", "Proto3", "Recursion", "SameFileNames", "ServiceMethods", "ServiceNames",
    "ServicesCasing",
    "ServicesClient",
    "ServicesMappings", "ServicesPayloads", "ServicesServer", "ServicesTestClient", "ServicesTestClientOf",
    "Shadowing",
  ].map(GoldenCase.init)

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Goldens"
  )

  var testDescription: String { name }
  var folder: URL { GoldenCase.folder.appendingPathComponent(name) }
  var expectedFolder: URL { folder.appendingPathComponent("expected") }

  /// The request as a compiler makes it.
  func request() throws -> Google_Protobuf_Compiler_CodeGeneratorRequest {
    let parameter = text("options.txt")?.trimmingCharacters(in: .whitespacesAndNewlines)
    let files = try files(in: folder, ending: ".proto").filter { !$0.hasPrefix("expected/") }.sorted()
    if let bytes = try? Data(contentsOf: folder.appendingPathComponent("descriptors.bin")) {
      let set = try Google_Protobuf_FileDescriptorSet(serializedBytes: [UInt8](bytes))
      return .with {
        $0.fileToGenerate = files
        $0.protoFile = set.file
        if let parameter { $0.parameter = parameter }
      }
    }
    let compiler = ProtoCompiler(includeDirectories: [folder.path, "/usr/include"])
    let compiled = try compiler.compile(files, parameter: parameter)
    return try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: compiled.request)
  }

  /// The output of the generator for the case.
  func generate() throws -> [GeneratedFile] {
    let request = try request()
    return try Generator(request: request, mappings: mappings(of: request)).files()
  }

  /// The files that the options of a request name, by their paths in the options.
  func mappings(of request: Google_Protobuf_Compiler_CodeGeneratorRequest) throws -> [String: String] {
    var mappings: [String: String] = [:]
    for path in try Generator.mappingPaths(inParameter: request.parameter) { mappings[path] = text(path) }
    return mappings
  }

  /// The expected output.
  func expected() throws -> [GeneratedFile] {
    try files(in: expectedFolder, ending: ".swift").sorted().map { name in
      let url = expectedFolder.appendingPathComponent(name)
      return GeneratedFile(name: name, content: try String(contentsOf: url, encoding: .utf8))
    }
  }

  /// Records `files` as the expected output.
  func record(_ files: [GeneratedFile]) throws {
    try? FileManager.default.removeItem(at: expectedFolder)
    for file in files {
      let url = expectedFolder.appendingPathComponent(file.name)
      let parent = url.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try Data(file.content.utf8).write(to: url)
    }
  }

  private func text(_ name: String) -> String? {
    try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  private func files(in folder: URL, ending: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(ending) }
  }
}
