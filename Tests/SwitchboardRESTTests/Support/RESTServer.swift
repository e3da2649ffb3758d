import RESTService
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
  let server = try Server(providers: providers, options: serverOptions)
  let address = try server.bind(host: "127.0.0.1", port: 0)
  do {
    let result = try await body("127.0.0.1:\(address.port)")
    await server.shutDown(grace: .zero)
    return result
  } catch {
    await server.shutDown(grace: .zero)
    throw error
  }
}
