/// A service that is described in Swift, method by method: the counterpart of a provider generated from a `.proto`
/// file.
///
/// ```swift
/// let stock = ServiceHandlers(
///   Stock.service,
///   [Stock.find.unaryHandler { query, context in Item(name: query.name, count: 3) }]
/// )
/// let server = try Server(providers: [stock])
/// ```
public struct ServiceHandlers: CallHandlerProvider {
  /// The name and the methods of the service.
  private let service: ServiceDescriptor
  /// The handlers of the service's methods, in any order. Calls of other methods fail with `UNIMPLEMENTED`.
  public var methodHandlers: [MethodHandler]
  /// The formats that its methods accept in addition to their own.
  private let payloadFormats: [any PayloadFormat]

  /// Creates a service with these handlers, whose methods also accept `payloadFormats`.
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
