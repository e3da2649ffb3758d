/// A service that is put together in Swift, method by method: what a generated provider is for a service of a
/// `.proto` file.
///
/// ```swift
/// let stock = ServiceHandlers(
///   Stock.service,
///   [Stock.find.unaryHandler { query, context in Item(name: query.name, count: 3) }]
/// )
/// let server = try Server(providers: [stock])
/// ```
public struct ServiceHandlers: CallHandlerProvider {
  /// What is known of the service before any call.
  public let service: ServiceDescriptor
  /// Its methods, in any order. Calls of methods that are not among them are answered with `UNIMPLEMENTED`.
  public var methodHandlers: [MethodHandler]
  /// The formats that its methods are served in, beside their own.
  public var payloadFormats: [any PayloadFormat]

  /// A service with these methods.
  public init(
    _ service: ServiceDescriptor,
    _ methodHandlers: [MethodHandler],
    payloadFormats: [any PayloadFormat] = []
  ) {
    self.service = service
    self.methodHandlers = methodHandlers
    self.payloadFormats = payloadFormats
  }

  public var serviceName: String { service.name }

  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { payloadFormats }
}
