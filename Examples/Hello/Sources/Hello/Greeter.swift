import Switchboard

struct Greeter: Hello_GreeterProvider {
  var interceptors: Interceptors? { nil }

  func greet(request: Hello_GreetRequest, context: ServerCallContext) async throws -> Hello_GreetReply {
    guard !request.name.isEmpty else {
      throw GRPCStatus(code: .invalidArgument, message: "the name is empty")
    }
    return .with { $0.text = "Hello, \(request.name)!" }
  }
}
