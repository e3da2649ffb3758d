/// A service that a server can offer. Generated providers conform.
public protocol CallHandlerProvider: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  var serviceName: String { get }

  /// The service's methods; read once, when the server is created.
  var methodHandlers: [MethodHandler] { get }

  /// The formats that a method accepts in addition to its own, preferred ones first; none by default. Read once, when
  /// the server is created.
  func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat]

  /// The descriptors of the service's file and all its imports for reflection, serialized, in base64. Empty unless
  /// generated with `ReflectionData=true`.
  var reflectionData: [String] { get }

  /// The server accepts no new connections or calls from now on; those in flight may finish. Calls that would never end
  /// should end now. Called once, from any thread.
  func serverIsShuttingDown()
}

extension CallHandlerProvider {
  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { [] }

  /// None.
  public var reflectionData: [String] { [] }

  /// Does nothing.
  public func serverIsShuttingDown() {}
}
