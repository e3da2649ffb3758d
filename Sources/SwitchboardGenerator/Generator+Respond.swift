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
      throw GeneratorError("invalid request: \(error)")
    }
    do throws(EncodeError) {
      return try response(to: decoded, readMappings: readMappings).serializedBytes()
    } catch {
      throw GeneratorError("the response cannot be written: \(error)")
    }
  }

  private static func response(
    to request: Google_Protobuf_Compiler_CodeGeneratorRequest,
    readMappings: (String) throws(GeneratorError) -> String
  ) -> Google_Protobuf_Compiler_CodeGeneratorResponse {
    var response = Google_Protobuf_Compiler_CodeGeneratorResponse()
    let proto3Optional = Google_Protobuf_Compiler_CodeGeneratorResponse.Feature.proto3Optional.rawValue
    let editions = Google_Protobuf_Compiler_CodeGeneratorResponse.Feature.supportsEditions.rawValue
    response.supportedFeatures = UInt64(proto3Optional | editions)
    response.minimumEdition = Int32(Google_Protobuf_Edition.proto2.rawValue)
    response.maximumEdition = Int32(Features.latestEdition.rawValue)
    do throws(GeneratorError) {
      var mappings: [String: String] = [:]
      for path in try mappingPaths(inParameter: request.parameter) { mappings[path] = try readMappings(path) }
      response.file = try Generator(request: request, mappings: mappings).files().map { file in
        .with {
          $0.name = file.name
          $0.content = file.content
        }
      }
    } catch {
      response.error = error.description
    }
    return response
  }
}
