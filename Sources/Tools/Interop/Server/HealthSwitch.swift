import InteropService
import Switchboard
import SwitchboardServices

/// Lets others say whether the server is healthy.
struct HealthSwitch: Grpc_Testing_XdsUpdateHealthServiceProvider {
  var interceptors: Interceptors? { nil }

  let health: HealthService

  func setServing(request: Grpc_Testing_Empty, context: ServerCallContext) async throws -> Grpc_Testing_Empty
  {
    health.set(.serving)
    return Grpc_Testing_Empty()
  }

  func setNotServing(
    request: Grpc_Testing_Empty,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_Empty {
    health.set(.notServing)
    return Grpc_Testing_Empty()
  }
}
