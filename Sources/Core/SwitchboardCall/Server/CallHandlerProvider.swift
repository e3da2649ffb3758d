/// A service that a server can offer. Generated providers conform to this protocol.
public protocol CallHandlerProvider: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  var serviceName: String { get }

  /// The handlers of the service's methods. Read once, when the server is created.
  var methodHandlers: [MethodHandler] { get }

  /// The formats that a method accepts in addition to its own, preferred ones first; none by default. Read once, when
  /// the server is created. If the conformance is declared in an extension that has this method, the compiler warns of a
  /// misspelled one.
  func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat]

  /// The serialized descriptors of the service's file and of all its imports, in base64, for reflection. Empty unless
  /// the code was generated with `ReflectionData=true`.
  var reflectionData: [String] { get }

  /// Called once, from any thread, when the server stops accepting connections and calls. Calls in flight may finish;
  /// those that would never end should end now.
  func serverIsShuttingDown()
}

extension CallHandlerProvider {
  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { [] }

  /// No reflection data.
  public var reflectionData: [String] { [] }

  /// Does nothing.
  public func serverIsShuttingDown() {}
}

/// A provider that knows whether it has the right handlers.
package protocol CheckedProvider: CallHandlerProvider {
  /// Throws if it does not. Called once, when a server is created.
  func check() throws(GRPCStatus)
}

/// A provider that wants to know what else its server offers.
package protocol ServiceObserver: CallHandlerProvider {
  /// Called once for each server, when it is made, with the names of its services. A name may occur more than once. The
  /// services of a channel within the process have no end: `serverIsShuttingDown` is not called.
  func serverWasMade(of services: [String], isInProcess: Bool, _ logger: Logger)
}
