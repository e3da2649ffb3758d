import InteropService
import Switchboard
import Testing

@testable import Interop

/// What the client of a mesh tells of its calls, and which calls it makes.
@Suite(.timeLimit(.minutes(5))) struct CallLedgerTests {
  private func outcome(_ kind: MeshCall, _ code: GRPCStatus.Code, from hostname: String) -> CallLedger.Outcome
  {
    CallLedger.Outcome(
      kind: kind,
      status: GRPCStatus(code: code),
      hostname: hostname,
      initial: ["hostname": hostname, "k": "v"],
      trailing: ["t": "w"]
    )
  }

  @Test func theNextCallsAreThoseThatBegin() async throws {
    let ledger = CallLedger()
    let early = ledger.begin(.unary)
    async let answer = ledger.nextCalls(.with { ($0.numRpcs, $0.timeoutSec) = (3, 60) })
    // Calls that began before do not count, whenever they end.
    while !Task.isCancelled, ledger.watchCount == 0 { await Task.yield() }
    let calls = [MeshCall.unary, .empty, .unary, .unary].map { (kind: $0, number: ledger.begin($0)) }
    ledger.end(early, outcome(.unary, .ok, from: "a"), isFailure: false)
    ledger.end(calls[3].number, outcome(.unary, .ok, from: "a"), isFailure: false)
    ledger.end(calls[1].number, outcome(.empty, .ok, from: "b"), isFailure: false)
    ledger.end(calls[0].number, outcome(.unary, .ok, from: "b"), isFailure: false)
    ledger.end(calls[2].number, outcome(.unary, .unavailable, from: "c"), isFailure: true)
    let found = try await answer
    #expect(found.rpcsByPeer == ["b": 2] && found.numFailures == 1)
    #expect(found.rpcsByMethod.mapValues(\.rpcsByPeer) == ["EmptyCall": ["b": 1], "UnaryCall": ["b": 1]])
    #expect(found.metadatasByPeer.isEmpty)
    let totals = ledger.totals
    #expect(totals.numRpcsStartedByMethod == ["UNARY_CALL": 4, "EMPTY_CALL": 1])
    #expect(totals.numRpcsSucceededByMethod == ["UNARY_CALL": 3, "EMPTY_CALL": 1])
    #expect(totals.numRpcsFailedByMethod == ["UNARY_CALL": 1, "EMPTY_CALL": 0])
    #expect(totals.statsPerMethod["UNARY_CALL"]?.result == [0: 3, 14: 1])
  }

  @Test func whatDoesNotEndInTimeCountsAsFailed() async throws {
    let ledger = CallLedger()
    let found = try await ledger.nextCalls(.with { $0.numRpcs = 5 })
    #expect(found.numFailures == 5 && found.rpcsByPeer.isEmpty && ledger.watchCount == 0)
    #expect(try await ledger.nextCalls(.init()) == .init())
  }

  @Test(arguments: [
    (["K", "x"], ["k=v"]), (["*"], ["hostname=a", "k=v", "t=w"]), (["t"], ["t=w"]),
  ])
  func metadataIsRepeatedOnRequest(_ keys: [String], _ expected: [String]) async throws {
    let ledger = CallLedger()
    async let answer = ledger.nextCalls(
      .with { ($0.numRpcs, $0.timeoutSec, $0.metadataKeys) = (1, 60, keys) }
    )
    while !Task.isCancelled, ledger.watchCount == 0 { await Task.yield() }
    ledger.end(ledger.begin(.empty), outcome(.empty, .ok, from: "a"), isFailure: false)
    let entries = try await answer.metadatasByPeer["a"]?.rpcMetadata.first?.metadata ?? []
    #expect(entries.map { "\($0.key)=\($0.value)" } == expected)
    #expect(entries.allSatisfy { $0.type == ($0.key == "t" ? .trailing : .initial) })
  }

  @Test func thePlanIsThatOfTheFlags() throws {
    let plan = try Arguments([
      "xds-client", "--server", "xds:///a", "--rpc=EmptyCall,UnaryCall", "--rpc_timeout=1m1.5s",
      "--metadata=EmptyCall:a:1:b:2,UnaryCall:c:3",
    ]).callPlan
    #expect(plan.entries.map(\.kind) == [.empty, .unary] && plan.timeout == .milliseconds(61_500))
    #expect(plan.entries.map { $0.metadata.map { "\($0)=\($1)" } } == [["a=1", "b=2"], ["c=3"]])
    let usual = try Arguments(["xds-client", "--rpc_timeout_sec=7"]).callPlan
    #expect(usual.entries.map(\.kind) == [.unary] && usual.timeout == .seconds(7))
    let asked = try CallPlan(
      .with {
        $0.types = [.emptyCall]
        $0.metadata = [
          .with { ($0.type, $0.key, $0.value) = (.emptyCall, "a", "1") },
          .with { ($0.type, $0.key, $0.value) = (.unaryCall, "b", "2") },
        ]
      },
      timeout: .seconds(3)
    )
    #expect(asked.entries.map(\.kind) == [.empty] && asked.timeout == .seconds(3))
    #expect(asked.entries[0].metadata.map(\.0) == ["a"])
    #expect(throws: GRPCStatus.self) {
      try CallPlan(.with { $0.types = [.UNRECOGNIZED(7)] }, timeout: .zero)
    }
  }

  @Test(arguments: [
    "--rpc=Call", "--metadata=EmptyCall:a", "--metadata=Call:a:b", "--rpc_timeout=20", "--rpc_timeout=0s",
    "--rpc_timeout=s",
  ])
  func aPlanThatCannotBeReadIsRefused(_ flag: String) {
    #expect(throws: Arguments.UsageError.self) { try Arguments(["xds-client", flag]).callPlan }
  }

  @Test(arguments: [[], ["--qps=0"], ["--num_channels=0"], ["--expect_status=FINE"]])
  func aClientThatCannotBeMadeIsRefused(_ flags: [String]) {
    let target = flags.isEmpty ? [] : ["--server=localhost:1"]
    #expect(throws: Arguments.UsageError.self) {
      try MeshClient(try Arguments(["xds-client", "--stats_port=0"] + target + flags))
    }
  }
}
