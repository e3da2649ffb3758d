import SwitchboardGenerator
import SwitchboardSchema
import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The generator as a plugin of protoc: it reads a request from standard input and writes the response to standard
/// output.
@main struct ProtocPlugin {
  static func main() async {
    prepareStandardStreams()
    do {
      switch CommandLine.arguments.dropFirst().first {
      case nil: try await respond()
      case "--version":
        try Descriptor.standardOutput.writeAll(Array("protoc-gen-switchboard \(Release.version)\n".utf8))
      default: end("this is a protoc plugin and takes no arguments except --version", exitCode: 2)
      }
    } catch {
      end("\(error)", exitCode: 1)
    }
  }

  private static func respond() async throws {
    var request = try Descriptor.standardInput.readAll()
    var document: [UInt8] = []
    if let parameter = try OpenAPIParameter(OpenAPIParameter.parameter(of: request)) {
      (request, document) = try parameter.respond(to: request)
    }
    try await Generator.respond(
      to: request,
      with: Workers(processorCount()),
      readMappings: readText,
      warn: complain
    ) {
      try Descriptor.standardOutput.writeAll($0)
    }
    // Messages that follow each other are one: the document is a file more of the response.
    try Descriptor.standardOutput.writeAll(document)
  }

  private static func end(_ message: String, exitCode: Int32) -> Never {
    complain("protoc-gen-switchboard: \(message)")
    exit(exitCode)
  }
}

/// The contents of a file that an option names.
private func readText(_ path: String) throws(GeneratorError) -> String {
  do throws(SystemError) {
    return String(decoding: try readFile(path), as: UTF8.self)
  } catch {
    throw GeneratorError("cannot read the mappings: \(error)")
  }
}
