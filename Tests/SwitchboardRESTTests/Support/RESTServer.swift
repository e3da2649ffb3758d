import RESTService
import ServerTestSupport
import Switchboard
import SwitchboardREST

/// A server of the tests' service, on a port of its own.
func withRESTServer<Result>(
  _ options: RESTOptions = RESTOptions(),
  configure change: (inout ServerOptions) -> Void = { _ in },
  _ body: (String) async throws -> Result
) async throws -> Result {
  let providers: [any CallHandlerProvider] = [RESTProvider()]
  var serverOptions = ServerOptions()
  try serverOptions.serveREST(providers, options: options)
  change(&serverOptions)
  return try await withServer(providers, options: serverOptions) { _, address async throws in
    try await body("127.0.0.1:\(address.port)")
  }
}
