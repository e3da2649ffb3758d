import SwitchboardDescriptors
import SwitchboardProtobuf

extension Generator {
  /// Answers an encoded `CodeGeneratorRequest` with an encoded `CodeGeneratorResponse`, as a plugin of protoc does.
  ///
  /// If the `.proto` files or the options are invalid, the response's `error` says why.
  ///
  /// - Parameters:
  ///   - request: the request in binary.
  ///   - readMappings: returns the content of a file that the option `ProtoPathModuleMappings` or `PayloadMappings`
  ///     names.
  /// - Returns: the response in binary.
  /// - Throws: an error if the bytes are not a request.
  public static func respond(
    to request: [UInt8],
    readMappings: (_ path: String) throws(GeneratorError) -> String = { path throws(GeneratorError) in
      throw GeneratorError("the mappings in '\(path)' cannot be read here")
    }
  ) throws(GeneratorError) -> [UInt8] {
    let decoded: Google_Protobuf_Compiler_CodeGeneratorRequest
    do throws(DecodeError) {
      decoded = try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: request)
    } catch {
      throw invalid(error)
    }
    var response = support
    do throws(GeneratorError) {
      for output in try outputs(for: decoded, readMappings) {
        response.file += try output.files().map(responseFile)
      }
    } catch {
      response = support
      response.error = error.description
    }
    return try encode(response)
  }

  /// Does the same on several threads, and hands out the response in pieces.
  ///
  /// - Parameters:
  ///   - request: the request in binary.
  ///   - workers: the threads.
  ///   - readMappings: returns the content of a file that an option names.
  ///   - write: takes the next bytes of the response.
  /// - Throws: an error if the bytes are not a request, or what `write` throws.
  package static func respond(
    to request: [UInt8],
    with workers: Workers,
    readMappings: (_ path: String) throws(GeneratorError) -> String,
    write: ([UInt8]) throws -> Void
  ) async throws {
    let decoded: Google_Protobuf_Compiler_CodeGeneratorRequest
    do throws(DecodeError) {
      decoded = try await .decode(request, with: workers)
    } catch {
      throw invalid(error)
    }
    // The fields of the pieces add up: they are one message in several parts.
    try write(encode(support))
    do {
      let outputs = try outputs(for: decoded, readMappings)
      try await workers.run(outputs.count) { index in
        Result { () throws(GeneratorError) in
          let files = try outputs[index].files()
          return try encode(.with { $0.file = files.map(responseFile) })
        }
      } take: { (piece: Result<[UInt8], GeneratorError>) throws in
        try write(piece.get())
      }
    } catch let error as GeneratorError {
      try write(encode(.with { $0.error = error.description }))
    }
  }

  /// The response without files: what this generator supports.
  private static var support: Google_Protobuf_Compiler_CodeGeneratorResponse {
    let proto3Optional = Google_Protobuf_Compiler_CodeGeneratorResponse.Feature.proto3Optional.rawValue
    let editions = Google_Protobuf_Compiler_CodeGeneratorResponse.Feature.supportsEditions.rawValue
    return .with {
      $0.supportedFeatures = UInt64(proto3Optional | editions)
      $0.minimumEdition = Int32(Google_Protobuf_Edition.proto2.rawValue)
      $0.maximumEdition = Int32(Features.latestEdition.rawValue)
    }
  }

  private static func outputs(
    for request: Google_Protobuf_Compiler_CodeGeneratorRequest,
    _ readMappings: (String) throws(GeneratorError) -> String
  ) throws(GeneratorError) -> [GeneratorOutput] {
    var mappings: [String: String] = [:]
    for path in try mappingPaths(inParameter: request.parameter) { mappings[path] = try readMappings(path) }
    return try Generator(request: request, mappings: mappings).outputs()
  }

  private static func responseFile(
    _ file: GeneratedFile
  ) -> Google_Protobuf_Compiler_CodeGeneratorResponse.File {
    .with {
      $0.name = file.name
      $0.content = file.content
    }
  }

  private static func encode(
    _ response: Google_Protobuf_Compiler_CodeGeneratorResponse
  ) throws(GeneratorError) -> [UInt8] {
    do throws(EncodeError) {
      return try response.serializedBytes()
    } catch {
      throw GeneratorError("the response cannot be written: \(error)")
    }
  }

  private static func invalid(_ error: DecodeError) -> GeneratorError {
    GeneratorError("invalid request: \(error)")
  }
}
