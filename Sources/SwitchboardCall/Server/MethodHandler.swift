/// A method that a server can call: what a router finds for a path.
public protocol MethodHandler: AnyObject, Sendable {
  /// The method it serves.
  var method: MethodDescriptor { get }

  /// The same method, with interceptors of these factories before its own. Asked for once, when a server is made.
  func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler

  /// Starts a call whose one request is whole. The bytes are lent for the length of this call.
  func start(_ stream: any ServerStream, message: RawSpan)

  /// Starts a call whose requests come as a stream.
  func start(_ stream: any ServerStream)

  /// Whether it takes calls whose content type has this name; one without a name it always takes.
  func reads(_ subtype: ContentSubtype) -> Bool

  /// The same method with its messages in another format; `nil` where the format has no marshallers for them.
  func inFormat(_ format: any PayloadFormat) -> (any MethodHandler)?
}

extension MethodHandler {
  public func reads(_ subtype: ContentSubtype) -> Bool { false }

  public func inFormat(_ format: any PayloadFormat) -> (any MethodHandler)? { nil }
}

/// A service as a server sees it. Generated providers conform.
public protocol CallHandlerProvider: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  var serviceName: String { get }

  /// The service's methods, asked for once, when the server is made.
  var methodHandlers: [any MethodHandler] { get }

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
