import SwitchboardCall

/// A method with `Codable` messages, sent as JSON.
///
/// ```swift
/// enum Stock {
///   static let find = CodableMethod<Query, Item>("shop.Stock", "Find", .unary)
///   static let service = ServiceDescriptor("shop.Stock", [find.descriptor])
/// }
/// ```
public typealias CodableMethod<Request: Codable & Sendable, Response: Codable & Sendable> =
  Method<CodableJSONMarshaller<Request>, CodableJSONMarshaller<Response>>

extension Method {
  /// A method of a service that needs no `.proto` file.
  @_alwaysEmitIntoClient
  public init<Request, Response>(_ service: String, _ method: String, _ type: GRPCCallType)
  where
    RequestMarshaller == CodableJSONMarshaller<Request>, ResponseMarshaller == CodableJSONMarshaller<Response>
  {
    self.init(
      MethodDescriptor(service: service, method: method, type: type),
      requests: CodableJSONMarshaller(),
      responses: CodableJSONMarshaller()
    )
  }
}
