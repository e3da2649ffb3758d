/// A service as a server sees it. Generated providers conform.
public protocol CallHandlerProvider: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  var serviceName: String { get }

  /// The service's methods, asked for once, when the server is made.
  var methodHandlers: [MethodHandler] { get }

  /// The formats that a method is served in beside its own, first choice first; by default none. Asked for once,
  /// when the server is made.
  func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat]

  /// What reflection answers with for the service: the serialized descriptors of its file and of all that it
  /// imports, each in base64. Empty unless it was generated with `ReflectionData=true`.
  var reflectionData: [String] { get }

  /// The server takes no new connections or calls from now on; those under way may finish. Called once,
  /// from any thread. Calls that would go on for ever should end.
  func serverIsShuttingDown()
}

extension CallHandlerProvider {
  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { [] }

  /// None.
  public var reflectionData: [String] { [] }

  /// Does nothing.
  public func serverIsShuttingDown() {}
}
