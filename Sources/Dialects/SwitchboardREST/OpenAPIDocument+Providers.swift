import Switchboard
import SwitchboardDescriptors
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText

extension OpenAPIDocument {
  /// Describes the services of `providers` by the rules with which `serveREST` serves them. The providers must be
  /// generated with `ReflectionData=true`. Generated code contains no comments; for a document with comments, use
  /// `switchboard openapi` or `protoc-gen-switchboard` on the `.proto` files.
  public init(
    describing providers: [any CallHandlerProvider],
    rules: [HTTPRule] = [],
    options: OpenAPIOptions = OpenAPIOptions()
  ) throws(HTTPRuleError) {
    try self.init(
      files: providers.markedDescriptors,
      services: Set(providers.map(\.serviceName)),
      rules: rules,
      options: options
    )
  }
}

extension [any CallHandlerProvider] {
  /// The descriptors of the services' files and of all that these import, serialized.
  var descriptors: [[UInt8]] {
    flatMap { provider in provider.reflectionData.map { Base64.decode($0.utf8) ?? [] } }
  }

  /// The same, with a mark at the methods whose messages are not protobuf. Invalid ones are left for their reader.
  fileprivate var markedDescriptors: [[UInt8]] {
    let services = map { provider in
      let formats = provider.methodHandlers.map { handler in
        let foreign = handler.foreignFormats
        return (method: handler.method.method, requests: foreign.requests, responses: foreign.responses)
      }
      return (provider.serviceName, formats)
    }
    return descriptors.map { bytes in
      guard var file = try? Google_Protobuf_FileDescriptorProto(serializedBytes: bytes) else { return bytes }
      var isChanged = false
      for (name, formats) in services where file.mark(formats, of: name) { isChanged = true }
      return isChanged ? (try? file.serializedBytes()) ?? bytes : bytes
    }
  }
}
