/// The path and the type of a method.
///
/// Generated code keeps one for each method, so that the path is built and encoded only once.
public final class MethodDescriptor: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  public let service: String
  /// The name within the service, such as `Get`.
  public let method: String
  /// Which sides of a call stream.
  public let type: GRPCCallType
  /// Such as `/echo.Echo/Get`.
  public let path: String
  /// What calling it twice does, as its `idempotency_level` in the `.proto` file says.
  public let idempotency: MethodIdempotency
  package let pathBytes: [UInt8]

  /// Builds the path. Do this once for each method.
  public init(
    service: String,
    method: String,
    type: GRPCCallType,
    idempotency: MethodIdempotency = .unknown
  ) {
    self.idempotency = idempotency
    self.service = service
    self.method = method
    self.type = type
    self.path = "/\(service)/\(method)"
    self.pathBytes = Array(path.utf8)
  }

  /// A method by its path, such as `/echo.Echo/Get`.
  package init(path: String, type: GRPCCallType) {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    service = names.dropFirst().dropLast().joined(separator: "/")
    method = names.last.map(String.init) ?? ""
    self.type = type
    idempotency = .unknown
    self.path = path
    pathBytes = Array(path.utf8)
  }
}
