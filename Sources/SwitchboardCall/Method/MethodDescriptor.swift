/// What both sides know of a method before any call: its path and its shape.
///
/// Generated code holds one per method in a static constant, so that its path is put together and encoded
/// once, not per call.
public final class MethodDescriptor: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  public let service: String
  /// The name within the service, such as `Get`.
  public let method: String
  /// What may be sent, and how often.
  public let type: GRPCCallType
  /// `/echo.Echo/Get`
  public let path: String
  package let pathBytes: [UInt8]

  /// Puts the path together; do it once per method.
  public init(service: String, method: String, type: GRPCCallType) {
    self.service = service
    self.method = method
    self.type = type
    self.path = "/\(service)/\(method)"
    self.pathBytes = Array(path.utf8)
  }

  /// The method at a path such as `/echo.Echo/Get`, wherever that comes from.
  public init(path: String, type: GRPCCallType) {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    service = names.dropFirst().dropLast().joined(separator: "/")
    method = names.last.map(String.init) ?? ""
    self.type = type
    self.path = path
    pathBytes = Array(path.utf8)
  }
}
