import Testing

@testable import SwitchboardCall

@Suite struct CreditTests {
  @Test func takingWaitsUntilMoreIsAdded() async throws {
    let credit = Credit(1)
    try await credit.take()
    let waiting = Task { try await credit.take() }
    credit.add(-1)
    credit.add(3)
    try await waiting.value
    #expect(credit.count == 2)
  }

  @Test func unlimitedCreditNeverRunsOut() async throws {
    let credit = Credit(5)
    credit.add(.max)
    try await credit.take()
    #expect(credit.count == .max)
  }

  @Test func remainingCreditCanBeTakenAfterClosing() async throws {
    let credit = Credit(1)
    credit.close()
    try await credit.take()
    await #expect(throws: GRPCStatus.callEnded) { try await credit.take() }
  }

  @Test func closingResumesWaitingTasks() async {
    let credit = Credit()
    credit.spend()
    let taking = Task { try await credit.take() }
    let waiting = Task { try await credit.wait() }
    credit.close()
    await #expect(throws: GRPCStatus.callEnded) { try await taking.value }
    await #expect(throws: Never.self) { try await waiting.value }
  }

  @Test(.timeLimit(.minutes(5))) func cancellingOneWaitingTaskLeavesTheOthersWaiting() async throws {
    let credit = Credit()
    let cancelled = Task { try await credit.take() }
    let other = Task { try await credit.take() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    credit.add(1)
    try await other.value
    #expect(credit.count == 0)
  }
}
