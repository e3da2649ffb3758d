/// The calls of a client whose responses go to a `ResponseHandler`: generated code adds one method for each method of the
/// service.
///
/// ```swift
/// try client.callbacks.makeGetCall(request, responseHandler: replyPrinter).start()
/// ```
public struct ClientCallbacks<CallbackClient: ServiceClient>: Sendable {
  // The parameter has a long name because it hides a message of its name in generated code.

  /// The client that makes the calls.
  public let client: CallbackClient
}

extension ServiceClient {
  /// The calls whose responses go to a handler, on a dispatch queue of its own.
  public var callbacks: ClientCallbacks<Self> { ClientCallbacks(client: self) }
}
