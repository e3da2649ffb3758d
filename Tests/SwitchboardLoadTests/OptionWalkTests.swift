import CallTestSupport
import LoadMessages
import Switchboard
import SwitchboardLoad
import SwitchboardProtobuf
import Testing

/// Each number of a plan is tried at -1, 0, 1 and its maximum. It is refused with an error that names it, or calls are made.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OptionWalkTests {
  /// The fields with numbers, by their names in JSON, where a default is a zero.
  private func numbers(in message: some Message) throws -> Set<String> {
    var options = JSONEncodingOptions()
    options.alwaysPrintFieldsWithNoPresence = true
    options.alwaysPrintInt64sAsNumbers = true
    let members = try message.jsonString(options: options).dropFirst().dropLast().split(separator: ",")
    return Set(
      members.compactMap { member in
        let parts = member.split(separator: ":")
        return parts.last == "0" ? parts.first.map { String($0.dropFirst().dropLast()) } : nil
      }
    )
  }

  @Test func everyNumberHasARule() throws {
    let numbers = try numbers(in: LoadTestPlan())
    #expect(numbers.contains("connections") && numbers.contains("warmUpSeconds"))
    #expect(OptionWalk.ruled(LoadTestPlan.self) == numbers)
    #expect(try OptionWalk.ruled(LoadTestRate.self) == self.numbers(in: LoadTestRate()))
  }

  /// A rule's name is that of its field.
  @Test func rulesNameTheirFields() throws {
    for sample in OptionWalk.samples(of: LoadTestPlan()) where ["1", "1.0"].contains(sample.value) {
      #expect(try LoadTestPlan(jsonString: "{\"\(sample.name)\": \(sample.value)}") == sample.options)
    }
    for sample in OptionWalk.samples(of: LoadTestRate()) where sample.value == "1.0" {
      #expect(try LoadTestRate(jsonString: "{\"\(sample.name)\": \(sample.value)}") == sample.options)
    }
  }

  /// A plan that ends soon, whichever limit of it is not there.
  private static let plan = try? LoadTestPlan.with { plan in
    plan = try .echo("")
    plan.callLimit = 5
    plan.durationSeconds = 0.05
  }

  private static let rate = LoadTestRate.with {
    $0.from = 1000
    $0.to = 1000
  }

  private func verify<Options>(
    _ sample: OptionSample<Options>,
    _ change: @escaping @Sendable (inout LoadTestPlan, Options) -> Void
  ) async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      var plan = try #require(Self.plan)
      change(&plan, sample.options)
      plan.target = target
      let tally: LoadTally
      do {
        tally = try await plan.measure()
      } catch let error as GRPCStatus {
        #expect(sample.isRefused(by: error), "\(error)")
        return
      }
      #expect(tally.errors == 0)
      // The calls of a warm-up are not counted.
      #expect(tally.calls > 0 || plan.warmUpSeconds > 0)
    }
  }

  @Test(arguments: OptionWalk.samples(of: plan ?? LoadTestPlan()))
  func aNumberIsRefusedOrCallsAreMade(_ sample: OptionSample<LoadTestPlan>) async throws {
    try await verify(sample) { plan, changed in plan = changed }
  }

  @Test(arguments: OptionWalk.samples(of: rate))
  func aNumberOfARateIsRefusedOrCallsAreMade(_ sample: OptionSample<LoadTestRate>) async throws {
    try await verify(sample) { plan, changed in plan.rate = changed }
  }
}
