import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtobuf
import Testing

private typealias Request = Google_Protobuf_Compiler_CodeGeneratorRequest
private typealias Response = Google_Protobuf_Compiler_CodeGeneratorResponse

/// What is generated does not depend on the number of threads.
@Suite("Parallel generation") struct ParallelTests {
  /// The response of the plugin, with all its pieces put together.
  private func respond(to request: [UInt8], workers: Int, mappings: [String: String] = [:]) async throws
    -> [UInt8]
  {
    var response: [UInt8] = []
    try await Generator.respond(to: request, with: Workers(workers)) { path throws(GeneratorError) in
      guard let text = mappings[path] else { throw GeneratorError("no mappings in \(path)") }
      return text
    } write: {
      response += $0
    }
    return response
  }

  @Test("The response does not depend on the number of threads", arguments: GoldenCase.all, [1, 2, 5])
  func responses(golden: GoldenCase, workers: Int) async throws {
    let request = try golden.request()
    let mappings = try golden.mappings(of: request)
    let bytes = try request.serializedBytes()
    let expected = try Generator.respond(to: bytes) { mappings[$0] ?? "" }
    #expect(try await respond(to: bytes, workers: workers, mappings: mappings) == expected)
  }

  @Test("A large request gives every file once, in the order of the request", arguments: [1, 2, 7])
  func manyFiles(workers: Int) async throws {
    let request = Self.request(files: 300)
    let response = try await respond(to: request.serializedBytes(), workers: workers)
    let files = try Response(serializedBytes: response).file
    #expect(files.map(\.name) == (0..<300).map { "f\($0).pb.swift" })
    #expect(try files.map(\.content) == Generator(request: request).files().map(\.content))
  }

  /// Files of different sizes, each with a message that refers to the file before it.
  private static func request(files count: Int) -> Request {
    .with { request in
      for index in 0..<count {
        request.fileToGenerate.append("f\(index).proto")
        request.protoFile.append(
          .with { file in
            file.name = "f\(index).proto"
            file.syntax = "proto3"
            file.messageType = (0..<(index % 7 == 0 ? 40 : 1)).map { number in
              .with { message in
                message.name = "M\(index)_\(number)"
                guard index > 0 else { return }
                message.field = [
                  .with {
                    $0.name = "previous"
                    $0.number = 1
                    $0.label = .optional
                    $0.type = .message
                    $0.typeName = ".M\(index - 1)_0"
                  }
                ]
              }
            }
          }
        )
      }
    }
  }

  @Test("The error does not depend on the number of threads", arguments: [1, 2, 7])
  func errors(workers: Int) async throws {
    var clash = Self.request(files: 20)
    clash.parameter = "FileNaming=DropPath"
    for index in [5, 9, 12] {
      clash.fileToGenerate[index] = "folder/f3.proto"
      clash.protoFile[index].name = "folder/f3.proto"
    }
    var option = Self.request(files: 20)
    option.parameter = "Nonsense=1"
    var missing = Self.request(files: 20)
    missing.fileToGenerate[7] = "nowhere.proto"
    missing.fileToGenerate[3] = "nothing.proto"
    for request in [clash, option, missing] {
      let bytes = try request.serializedBytes()
      let expected = try Response(serializedBytes: Generator.respond(to: bytes))
      #expect(expected.hasError)
      #expect(try await Response(serializedBytes: respond(to: bytes, workers: workers)) == expected)
    }
  }

  @Test("Nothing is written after a failed write", arguments: [1, 4])
  func failingWriter(workers: Int) async throws {
    struct Full: Error {}
    let bytes = try Self.request(files: 100).serializedBytes()
    var pieces = 0
    await #expect(throws: Full.self) {
      try await Generator.respond(to: bytes, with: Workers(workers)) { _ throws(GeneratorError) in
        ""
      } write: { _ in
        pieces += 1
        if pieces == 10 { throw Full() }
      }
    }
    #expect(pieces == 10)
  }

  // MARK: Reading

  @Test("Reading a request does not depend on the number of threads", arguments: GoldenCase.all, [1, 3])
  func reading(golden: GoldenCase, workers: Int) async throws {
    var request = try golden.request()
    request.sourceFileDescriptors = request.protoFile
    let bytes: [UInt8] = try request.serializedBytes()
    let expected = try GeneratorRequest(bytes)
    #expect(expected.filesToGenerate == request.fileToGenerate)
    #expect(expected.parameter == request.parameter)
    #expect(expected.files.map(\.name) == request.protoFile.map(\.name))
    let read = try await GeneratorRequest(bytes, with: Workers(workers))
    #expect("\(read)" == "\(expected)")
    let set = Google_Protobuf_FileDescriptorSet.with { $0.file = request.protoFile }
    var ofSet = try await GeneratorRequest(descriptorSet: set.serializedBytes(), with: Workers(workers))
    ofSet.filesToGenerate = request.fileToGenerate
    ofSet.parameter = request.parameter
    #expect(try Generator(ofSet, mappings: golden.mappings(of: request)).files() == golden.generate())
  }

  @Test("Invalid requests have the same error on any number of threads", arguments: [1, 3])
  func junk(workers: Int) async throws {
    let request: [UInt8] = try Self.request(files: 3).serializedBytes()
    var inputs = request.indices.map { Array(request[..<$0]) }
    inputs += [
      // A field that is no message, one without an end, a group, a tag of ten bytes, and a length beyond all bounds.
      [0x7A, 1, 0xFF], [0x7A, 0xFF], [0x0B, 0x0C], Array(repeating: 0xFF, count: 11),
      [0x7A] + Array(repeating: 0xFF, count: 9) + [1],
    ]
    for input in inputs {
      let one = Result { () throws(GeneratorError) in try GeneratorRequest(input) }
      let several: Result<GeneratorRequest, GeneratorError>
      do throws(GeneratorError) {
        several = .success(try await GeneratorRequest(input, with: Workers(workers)))
      } catch {
        several = .failure(error)
      }
      #expect("\(several)" == "\(one)")
    }
  }
}
