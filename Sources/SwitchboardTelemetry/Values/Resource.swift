/// What sends the telemetry: attributes of the process that every signal carries.
///
/// ```swift
/// options.resource = Resource(serviceName: "checkout", attributes: ["deployment.environment.name": "test"])
/// ```
public struct Resource: Sendable, Hashable {
  /// The attributes, `service.name` among them.
  public var attributes: [String: AttributeValue]

  /// A resource with the name of the service; its name takes precedence over one in `attributes`.
  public init(serviceName: String, attributes: [String: AttributeValue] = [:]) {
    self.attributes = attributes
    self.attributes["service.name"] = .string(serviceName)
  }

  /// The name of the service.
  public var serviceName: String {
    get { attributes["service.name"]?.description ?? Self.unknownService }
    set { attributes["service.name"] = .string(newValue) }
  }

  static let unknownService = "unknown_service"

  /// With what every sender of OpenTelemetry says of itself.
  var complete: Resource {
    var resource = self
    resource.attributes["telemetry.sdk.name"] = "switchboard"
    resource.attributes["telemetry.sdk.language"] = "swift"
    resource.attributes["telemetry.sdk.version"] = .string(Self.version)
    if resource.attributes["service.name"] == nil { resource.serviceName = Self.unknownService }
    return resource
  }

  static let version = "0.1.0"
  /// The name of the scope of what calls report.
  static let scopeName = "grpc-swift-switchboard"
}
