/// The name of a service and its methods.
public struct ServiceDescriptor: Sendable {
  /// The full name, such as `echo.Echo`.
  public let name: String
  /// The methods, in the order of the `.proto` file.
  public let methods: [MethodDescriptor]

  /// Describes a service. Generated code creates one descriptor for each service.
  public init(_ name: String, _ methods: [MethodDescriptor]) {
    self.name = name
    self.methods = methods
  }
}
