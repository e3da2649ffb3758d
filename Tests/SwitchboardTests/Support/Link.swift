import Switchboard

/// How a test's client reaches its server.
enum Link: CaseIterable {
  case connection, inProcess

  func with(
    _ providers: [any CallHandlerProvider],
    options: ServerOptions = ServerOptions(),
    _ body: (Channel) async throws -> Void
  ) async throws {
    let server = try Server(providers: providers, options: options)
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let channel =
      self == .inProcess
      ? try Channel(inProcess: providers, options: options)
      : try Channel(target: "\(address)")
    let result: Result<Void, any Error>
    do { result = .success(try await body(channel)) } catch { result = .failure(error) }
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
    try result.get()
  }
}
