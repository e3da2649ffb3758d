import Switchboard
import SwitchboardOpenAPI

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
      files: providers.descriptors,
      services: Set(providers.map(\.serviceName)),
      rules: rules,
      options: options
    )
  }
}

extension [any CallHandlerProvider] {
  /// The descriptors of the services' files and of all that these import, serialized.
  var descriptors: [[UInt8]] {
    flatMap { provider in provider.reflectionData.map { Base64.decode([UInt8]($0.utf8)[...]) ?? [] } }
  }
}
