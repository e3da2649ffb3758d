import SwitchboardCall

/// What the chain of interceptors of every method of a server must contain. A server with a method whose chain lacks one
/// cannot be created: the error names the methods.
///
/// The types are classes of interceptors, protocols of your own that such classes conform to, or types of guards. The chains
/// are made once for this when the server is created. It cannot see what factories return for later calls: those of a
/// required interceptor must return it for each call.
///
/// ```swift
/// var options = ServerOptions()
/// options.requiredInterceptors = [KeyGuard.self]
/// ```
public struct RequiredInterceptors: Sendable, ExpressibleByArrayLiteral {
  package let types: [any Any.Type]
  let exceptions: [String]

  /// Requires an interceptor of each type in the chain of each method, unless its service or its path is one of
  /// `exceptions`, such as `grpc.health.v1.Health` or `/grpc.health.v1.Health/Check`. An exception that the server does
  /// not have is an error, too.
  public init(_ types: [any Any.Type], except exceptions: [String] = []) {
    self.types = types
    self.exceptions = exceptions
  }

  public init(arrayLiteral types: any Any.Type...) { self.init(types) }

  /// Returns the paths of methods that are excepted, and have what is required nevertheless.
  func check(_ methods: [RPCMethod]) throws(GRPCStatus) -> [String] {
    guard !types.isEmpty || exceptions.isEmpty else { throw .exceptionsFromNothing }
    if let fault = types.lazy.compactMap({ MethodHandler.fault(ofRequired: $0) }).first {
      throw GRPCStatus(code: .invalidArgument, message: "requiredInterceptors \(fault)")
    }
    var unused = exceptions
    var failures: [String] = []
    var guarded: [String] = []
    for method in methods {
      let (service, path) = (method.descriptor.service, method.descriptor.path)
      if exceptions.contains(where: { $0 == service || $0 == path }) {
        unused.removeAll { $0 == service || $0 == path }
        if method.handler.lacking(types).count < types.count { guarded.append(path) }
        continue
      }
      let missing = method.handler.lacking(types)
      if !missing.isEmpty {
        failures.append("\(path) lacks \(missing.map { "\($0)" }.joined(separator: ", "))")
      }
    }
    failures.sort()
    failures += unused.map { "there is no \($0) to except" }
    guard !failures.isEmpty else { return guarded.sorted() }
    let message = "requiredInterceptors: \(failures.joined(separator: "; "))"
    throw GRPCStatus(code: .failedPrecondition, message: message)
  }
}

extension GRPCStatus {
  fileprivate static let exceptionsFromNothing = GRPCStatus(
    code: .failedPrecondition,
    message: "requiredInterceptors: there are exceptions, and no interceptor is required: name its type"
  )
}
