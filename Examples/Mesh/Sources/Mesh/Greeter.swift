import Switchboard

/// The service, in the version that the server was started with.
struct Greeter: Mesh_GreeterProvider {
  var interceptors: Interceptors? { nil }

  let version: String

  func greet(request: Mesh_GreetRequest, context: ServerCallContext) async throws -> Mesh_Greeting {
    .with {
      $0.text = version == "v1" ? "Hello, \(request.name)!" : "Hello, dear \(request.name)!"
      $0.version = version
    }
  }
}
