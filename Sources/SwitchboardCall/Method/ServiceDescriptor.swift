/// What both sides know of a service before any call.
public struct ServiceDescriptor: Sendable {
  /// The full name, such as `echo.Echo`.
  public let name: String
  /// In the order of the `.proto` file.
  public let methods: [MethodDescriptor]

  /// Made once, by generated code.
  public init(_ name: String, _ methods: [MethodDescriptor]) {
    self.name = name
    self.methods = methods
  }
}
