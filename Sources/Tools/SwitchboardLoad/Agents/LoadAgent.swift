import LoadMessages
import Switchboard

/// Puts load on servers on behalf of another process, one run at a time.
package struct LoadAgent: LoadTestAgentProvider {
  package var interceptors: Interceptors? { nil }

  private let token: [UInt8]
  private let isBusy = Busy()
  /// How often the agent reports its progress.
  private let interval: Duration
  private let started: @Sendable (LoadTestPlan) -> Void

  private final class Busy: Sendable {
    let flag = Locked(false)
  }

  /// Callers must present `token`. It has no default, because an agent calls any server that its callers name.
  package init(
    token: String,
    interval: Duration = .milliseconds(250),
    started: @escaping @Sendable (LoadTestPlan) -> Void = { _ in }
  ) {
    self.token = Array("Bearer \(token)".utf8)
    self.interval = interval
    self.started = started
  }

  package func run(
    requestStream: RequestStream<LoadTestAgentRequest>,
    responseStream: ResponseStreamWriter<LoadTestAgentResponse>,
    context: ServerCallContext
  ) async throws {
    guard Self.isEqual(Array((context.headers.first(name: "authorization") ?? "").utf8), token) else {
      throw GRPCStatus(code: .unauthenticated, message: "the agent has another token")
    }
    var requests = requestStream.makeAsyncIterator()
    guard case .plan(let plan)? = try await requests.next()?.request else {
      throw GRPCStatus(code: .invalidArgument, message: "the first request is not a plan")
    }
    let isFree = isBusy.flag.withLock { isBusy in
      defer { isBusy = true }
      return !isBusy
    }
    guard isFree else {
      throw GRPCStatus(code: .resourceExhausted, message: "the agent is busy with another run")
    }
    defer { isBusy.flag.withLock { $0 = false } }
    let tally = try await press(plan, requestStream, responseStream)
    try await responseStream.send(.with { $0.result = tally.message })
  }

  private func press(
    _ plan: LoadTestPlan,
    _ requests: RequestStream<LoadTestAgentRequest>,
    _ responses: ResponseStreamWriter<LoadTestAgentResponse>
  ) async throws -> LoadTally {
    let settings: LoadRun.Settings
    do {
      settings = try plan.settings()
    } catch let status as GRPCStatus {
      throw status
    } catch {
      throw GRPCStatus(code: .invalidArgument, message: "\(error)")
    }
    let run: LoadRun
    do {
      run = try await LoadRun(settings) { try plan.channel(on: $0) }
    } catch let status as GRPCStatus {
      throw status.calling(plan.target)
    }
    started(plan)
    return try await withThrowingTaskGroup(of: LoadTally?.self) { group in
      group.addTask { await run.run() }
      group.addTask {
        // The requests also end if the caller disconnects.
        for try await request in requests { if case .stop? = request.request { break } }
        await run.stop()
        return nil
      }
      group.addTask {
        while !Task.isCancelled {
          try await Task.sleep(for: interval)
          try await responses.send(.with { $0.progress = run.tally.message })
        }
        return nil
      }
      do {
        while let ended = try await group.next() {
          guard let tally = ended else { continue }
          group.cancelAll()
          return tally
        }
      } catch {
        // The caller has disconnected, so the load stops.
        await run.stop(grace: .zero)
        throw error
      }
      return run.tally
    }
  }

  /// Compares in constant time, so that the duration does not reveal where the two differ.
  private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension GRPCStatus {
  /// What precedes an agent's failure to reach a plan's server, which tells it from a failure to reach the agent.
  private static let calling = "calling "

  /// The status of an agent's connection to a server.
  fileprivate func calling(_ target: String) -> GRPCStatus {
    GRPCStatus(code: code, message: "\(Self.calling)\(target): \(message ?? "\(code)")", origin: origin)
  }

  /// Whether an agent has reported that it does not reach the server.
  package func isAgents(calling target: String) -> Bool {
    message?.contains(": \(Self.calling)\(target): ") ?? false
  }
}
