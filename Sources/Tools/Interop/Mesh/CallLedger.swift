import InteropService
import Switchboard

/// What becomes of a client's calls: of all, and of the next ones, for those who ask.
final class CallLedger: Sendable {
  /// What became of a call.
  struct Outcome: Sendable {
    let kind: MeshCall
    let status: GRPCStatus
    /// The server's; empty if none answered.
    var hostname = ""
    var initial = HPACKHeaders()
    var trailing = HPACKHeaders()
  }

  private struct Totals {
    var started = 0
    var results: [Int: Int] = [:]
  }

  /// Somebody who waits for the next calls.
  fileprivate struct Watch {
    let calls: Range<Int>
    var remaining: Int
    let metadata: MetadataFilter
    var answer = Grpc_Testing_LoadBalancerStatsResponse()
    let done: AsyncStream<Grpc_Testing_LoadBalancerStatsResponse>.Continuation
  }

  private struct State {
    var next = 0
    var totals: [MeshCall: Totals] = [:]
    var watches: [Int: Watch] = [:]
    var lastWatch = 0
  }

  private let state = Locked(State())

  /// How many wait for the next calls.
  var watchCount: Int { state.withLock { $0.watches.count } }

  /// Numbers a call that begins.
  func begin(_ kind: MeshCall) -> Int {
    state.withLock { state in
      state.totals[kind, default: Totals()].started += 1
      defer { state.next += 1 }
      return state.next
    }
  }

  /// A call has ended; `isFailure` is for those who wait for the next calls.
  func end(_ number: Int, _ outcome: Outcome, isFailure: Bool) {
    state.withLock { state in
      state.totals[outcome.kind, default: Totals()].results[outcome.status.code.rawValue, default: 0] += 1
      for id in state.watches.keys where state.watches[id]?.calls.contains(number) == true {
        state.watches[id]?.add(outcome, isFailure: isFailure)
        if state.watches[id]?.remaining == 0 { state.watches.removeValue(forKey: id)?.finish() }
      }
    }
  }

  /// Waits for the next calls that begin, but not longer than the request says.
  func nextCalls(
    _ request: Grpc_Testing_LoadBalancerStatsRequest
  ) async throws -> Grpc_Testing_LoadBalancerStatsResponse {
    let count = Int(request.numRpcs)
    guard count > 0 else { return Grpc_Testing_LoadBalancerStatsResponse() }
    let (answers, done) = AsyncStream<Grpc_Testing_LoadBalancerStatsResponse>.makeStream()
    let id = state.withLock { state in
      state.lastWatch += 1
      state.watches[state.lastWatch] = Watch(
        calls: state.next..<state.next + count,
        remaining: count,
        metadata: MetadataFilter(request.metadataKeys),
        done: done
      )
      return state.lastWatch
    }
    let timer = Task {
      try await Task.sleep(for: .seconds(request.timeoutSec))
      giveUp(id)
    }
    defer {
      timer.cancel()
      giveUp(id)
    }
    for await answer in answers { return answer }
    throw CancellationError()
  }

  private func giveUp(_ id: Int) {
    state.withLock { $0.watches.removeValue(forKey: id) }?.finish()
  }

  /// All calls so far.
  var totals: Grpc_Testing_LoadBalancerAccumulatedStatsResponse {
    let totals = state.withLock { $0.totals }
    return .with { response in
      for (kind, totals) in totals {
        let succeeded = totals.results[0] ?? 0
        let failed = totals.results.reduce(-succeeded) { $0 + $1.value }
        response.numRpcsStartedByMethod[kind.type] = Int32(clamping: totals.started)
        response.numRpcsSucceededByMethod[kind.type] = Int32(clamping: succeeded)
        response.numRpcsFailedByMethod[kind.type] = Int32(clamping: failed)
        response.statsPerMethod[kind.type] = .with { stats in
          stats.rpcsStarted = Int32(clamping: totals.started)
          for (code, count) in totals.results { stats.result[Int32(code)] = Int32(clamping: count) }
        }
      }
    }
  }
}

extension CallLedger.Watch {
  fileprivate mutating func add(_ outcome: CallLedger.Outcome, isFailure: Bool) {
    remaining -= 1
    guard !isFailure, !outcome.hostname.isEmpty else {
      answer.numFailures += 1
      return
    }
    answer.rpcsByPeer[outcome.hostname, default: 0] += 1
    answer.rpcsByMethod[outcome.kind.method, default: .init()].rpcsByPeer[outcome.hostname, default: 0] += 1
    guard !metadata.isEmpty else { return }
    answer.metadatasByPeer[outcome.hostname, default: .init()].rpcMetadata.append(
      .with {
        $0.metadata =
          metadata.entries(of: outcome.initial, .initial) + metadata.entries(of: outcome.trailing, .trailing)
      }
    )
  }

  /// Calls that have not ended count as failures.
  fileprivate consuming func finish() {
    answer.numFailures += Int32(remaining)
    done.yield(answer)
    done.finish()
  }
}

/// The fields that somebody wants to see.
private struct MetadataFilter: Sendable {
  private let names: Set<String>
  private let isAll: Bool

  init(_ names: [String]) {
    isAll = names.contains("*")
    self.names = Set(names.map { $0.lowercased() })
  }

  var isEmpty: Bool { names.isEmpty }

  func entries(
    of fields: HPACKHeaders,
    _ type: Grpc_Testing_LoadBalancerStatsResponse.MetadataType
  ) -> [Grpc_Testing_LoadBalancerStatsResponse.MetadataEntry] {
    fields.filter { isAll || names.contains($0.name) }.map { field in
      .with { ($0.key, $0.value, $0.type) = (field.name, field.value, type) }
    }
  }
}
