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
    let request = try decode(request)
    var response = GeneratorResponse.support.bytes
    do throws(GeneratorError) {
      for output in try generator(for: request, readMappings).outputs() {
        response += GeneratorResponse(files: try output.files()).bytes
      }
    } catch {
      response = GeneratorResponse.support.bytes + GeneratorResponse(error: error).bytes
    }
    return response
  }

  /// Does the same on several threads, and hands out the response in pieces.
  ///
  /// - Parameters:
  ///   - request: the request in binary.
  ///   - workers: the threads.
  ///   - readMappings: returns the content of a file that an option names.
  ///   - warn: takes each line about what is hardly meant.
  ///   - write: takes the next bytes of the response.
  /// - Throws: an error if the bytes are not a request, or what `write` throws.
  package static func respond(
    to request: [UInt8],
    with workers: Workers,
    readMappings: (_ path: String) throws(GeneratorError) -> String,
    warn: (String) -> Void = { _ in },
    write: ([UInt8]) throws -> Void
  ) async throws {
    let decoded: GeneratorRequest
    do throws(GeneratorError) {
      decoded = try await GeneratorRequest(request, with: workers)
    } catch {
      throw invalid(error)
    }
    // The fields of the pieces add up: they are one message in several parts.
    try write(GeneratorResponse.support.bytes)
    do {
      let generator = try generator(for: decoded, readMappings)
      let outputs = try generator.outputs()
      for doubt in generator.doubts { warn(doubt.line("warning")) }
      try await workers.run(outputs.count) { index in
        Result { () throws(GeneratorError) in GeneratorResponse(files: try outputs[index].files()).bytes }
      } take: { (piece: Result<[UInt8], GeneratorError>) throws in
        try write(piece.get())
      }
    } catch let error as GeneratorError {
      try write(GeneratorResponse(error: error).bytes)
    }
  }

  private static func generator(
    for request: GeneratorRequest,
    _ readMappings: (String) throws(GeneratorError) -> String
  ) throws(GeneratorError) -> Generator {
    try checkRepetition(OptionList.options(in: request.parameter))
    var mappings: [String: String] = [:]
    for path in try mappingPaths(inParameter: request.parameter) { mappings[path] = try readMappings(path) }
    return try Generator(request, mappings: mappings)
  }

  static func decode(_ bytes: [UInt8]) throws(GeneratorError) -> GeneratorRequest {
    do throws(GeneratorError) {
      return try GeneratorRequest(bytes)
    } catch {
      throw invalid(error)
    }
  }

  /// The error for bytes that are not a request.
  private static func invalid(_ error: GeneratorError) -> GeneratorError {
    GeneratorError("invalid request: \(error)")
  }
}
