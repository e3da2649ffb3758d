import Switchboard

/// Runs `body` with a channel to a server of some providers, over a real connection and within the process.
func hosted(
  _ providers: [any CallHandlerProvider],
  _ body: (Channel, Server) async throws -> Void
) async throws {
  let server = try Server(providers: providers)
  let address = try server.bind(host: "127.0.0.1", port: 0)
  let channel = try Channel(target: "\(address)")
  let result: Result<Void, any Error>
  do { result = .success(try await body(channel, server)) } catch { result = .failure(error) }
  await channel.shutDown(grace: .zero)
  await server.shutDown(grace: .zero)
  try result.get()
}
