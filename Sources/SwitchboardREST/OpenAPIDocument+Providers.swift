import Switchboard
import SwitchboardOpenAPI

extension OpenAPIDocument {
  /// Describes the services of providers that were generated with `ReflectionData=true`, by the rules with which
  /// `serveREST` serves them. Generated code has no comments: `switchboard openapi` and `protoc-gen-switchboard` make a
  /// document with them from the `.proto` files.
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
