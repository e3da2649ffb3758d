import Foundation
import TestSupport
import Testing

/// The command and the plugin print the same bytes for the same input, under every protoc.
@Suite(.mayBlock) struct SameBytesTests {
  /// The system's protoc and the newer one in PyPI's grpcio-tools, which `make test` installs in .venv.
  static let compilers: [[String]] = [
    ["protoc"], [packageRoot + "/.venv/bin/python", "-m", "grpc_tools.protoc"],
  ]

  static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  static let inputs: [(root: String, files: [String], options: [String])] = [
    (packageRoot + "/Protos/bench", ["codec.proto", "bench.proto"], []),
    (packageRoot + "/Protos/bench", ["bench.proto"], ["Visibility=Public", "FileNaming=PathToUnderscores"]),
    (
      "/usr/include",
      ["descriptor", "struct", "type", "api", "any", "compiler/plugin"].map { "google/protobuf/\($0).proto" },
      ["FileNaming=DropPath"]
    ),
    (
      packageRoot + "/Protos", ["echo/echo.proto", "bench/bench.proto"],
      ["KeepMethodCasing=true", "ReflectionData=true"]
    ),
    (packageRoot + "/Protos", ["echo/echo.proto"], ["Messages=false", "Client=false", "Visibility=Package"]),
  ]

  @Test(arguments: compilers, inputs.indices)
  func protocWritesTheSameFiles(compiler: [String], index: Int) throws {
    let input = Self.inputs[index]
    let scratch = try Scratch()
    let tool = try Command.product(
      "switchboard",
      ["generate", "-I", input.root, "-o", scratch.directory("tool")]
        + input.options.flatMap { ["--option", $0] } + input.files
    )
    #expect(tool.exitCode == 0, "\(tool.errors)")
    let plugin = try Command.run(
      compiler[0],
      compiler.dropFirst() + [
        "-I", input.root,
        "--plugin=protoc-gen-switchboard=\(Command.path(ofProduct: "protoc-gen-switchboard"))",
        "--switchboard_out=\(input.options.joined(separator: ",")):\(scratch.directory("plugin"))",
      ] + input.files
    )
    #expect(plugin.exitCode == 0, "\(plugin.errors)")
    let build = try Command.product(
      "switchboard-generate",
      ["-I", input.root, "-o", scratch.directory("build")]
        + input.options.flatMap { ["--option", $0] } + input.files
    )
    #expect(build.exitCode == 0, "\(build.errors)")
    let files = try scratch.files(below: "tool")
    #expect(try files == scratch.files(below: "build"))
    #expect(files.count >= input.files.count)
    #expect(try files == scratch.files(below: "plugin"))
  }
}
