import SwitchboardSchema

/// The attributes of the process, which every export carries.
///
/// ```swift
/// options.resource = Resource(serviceName: "checkout", attributes: ["deployment.environment.name": "test"])
/// ```
public struct Resource: Sendable, Hashable {
  /// The attributes, `service.name` among them.
  public var attributes: [String: AttributeValue]

  /// A resource of a service. `serviceName` takes precedence over `service.name` in `attributes`.
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

  /// The resource with the attributes that OpenTelemetry requires of every sender.
  var complete: Resource {
    var resource = self
    resource.attributes["telemetry.sdk.name"] = "switchboard"
    resource.attributes["telemetry.sdk.language"] = "swift"
    resource.attributes["telemetry.sdk.version"] = .string(Release.version)
    if resource.attributes["service.name"] == nil { resource.serviceName = Self.unknownService }
    return resource
  }

  /// What exporters call themselves, in the form that OTLP asks for.
  static let userAgent = "OTel-OTLP-Exporter-Switchboard/\(Release.version)"
  /// The name of the instrumentation scope in exports.
  static let scopeName = "grpc-swift-switchboard"
}
