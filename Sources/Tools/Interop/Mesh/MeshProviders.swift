import InteropService
import Switchboard

/// Tells others where a client's calls go.
struct StatisticsProvider: Grpc_Testing_LoadBalancerStatsServiceProvider {
  var interceptors: Interceptors? { nil }

  let ledger: CallLedger

  func getClientStats(
    request: Grpc_Testing_LoadBalancerStatsRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_LoadBalancerStatsResponse {
    try await ledger.nextCalls(request)
  }

  func getClientAccumulatedStats(
    request: Grpc_Testing_LoadBalancerAccumulatedStatsRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_LoadBalancerAccumulatedStatsResponse {
    ledger.totals
  }
}

/// Lets others say which calls a client makes.
final class ConfigurationProvider: Grpc_Testing_XdsUpdateClientConfigureServiceProvider {
  var interceptors: Interceptors? { nil }

  /// The timeout of calls, if a plan has none.
  private let timeout: Duration
  private let current: Locked<CallPlan>

  init(_ plan: CallPlan) {
    timeout = plan.timeout
    current = Locked(plan)
  }

  var plan: CallPlan { current.withLock { $0 } }

  func configure(
    request: Grpc_Testing_ClientConfigureRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_ClientConfigureResponse {
    let plan = try CallPlan(request, timeout: timeout)
    current.withLock { $0 = plan }
    return Grpc_Testing_ClientConfigureResponse()
  }
}
