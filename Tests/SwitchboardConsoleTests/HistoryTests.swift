import SwitchboardTelemetry
import Testing

@testable import SwitchboardConsole

/// The figures of methods over time.
@Suite struct HistoryTests {
  private static let bounds = [0.001, 0.01, 0.1]

  @Test(
    arguments: [
      ([0, 0, 0, 0], 0.5, Float.nan), ([10, 0, 0, 0], 0.5, 0.0005), ([10, 0, 0, 0], 1, 0.001),
      ([50, 50, 0, 0], 0.5, 0.001), ([50, 50, 0, 0], 0.75, 0.0055), ([0, 0, 0, 3], 0.99, 0.1),
      ([98, 0, 2, 0], 0.99, 0.055),
    ] as [([UInt64], Double, Float)]
  )
  func aPercentileIsWithinItsBucket(_ sample: (counts: [UInt64], share: Double, wanted: Float)) {
    let found = DurationCounts(bounds: Self.bounds, counts: sample.counts).percentile(sample.share)
    if sample.wanted.isNaN { #expect(found.isNaN) } else { #expect(abs(found - sample.wanted) < 0.0001) }
  }

  @Test func aPeriodHasWhatWasAddedInIt() async throws {
    let totals = try await TotalsOfCalls()
    var history = MethodHistory(try await totals.after(calls: 4, failures: 1))
    #expect(history.periods.isEmpty)
    history.add(try await totals.after(calls: 10, failures: 5), seconds: 5)
    history.add(try await totals.after(calls: 0, failures: 0), seconds: 5)
    #expect(history.periods.map(\.rate) == [3, 0])
    #expect(history.periods.map(\.errors) == [1, 0])
    #expect(history.periods[0].median > 0)
    #expect(history.periods[1].median.isNaN)
    #expect(history.latest.rate == 1.5)
    await totals.end()
  }

  @Test func itKeepsFifteenMinutesAndTheFiguresOfTheLastMinute() async throws {
    let totals = try await TotalsOfCalls()
    let before = try await totals.after(calls: 30, failures: 0)
    var history = MethodHistory(.none)
    for _ in 0..<MethodHistory.length { history.add(before, seconds: 5) }
    #expect(history.periods.count == MethodHistory.length)
    #expect(history.periods[0].rate == 6)
    #expect(history.latest.rate == 0)
    history.add(before, seconds: 5)
    #expect(history.periods.count == MethodHistory.length)
    #expect(history.periods[0].rate == 0)
    await totals.end()
  }

  @Test func methodsBeyondTheLimitCountTogether() async throws {
    let totals = try await TotalsOfCalls()
    var one = try await totals.after(calls: 5, failures: 0)
    var history = CallHistory(limit: 2)
    let all = ["a/A", "b/B", "c/C", "d/D"].map { name in
      one.method = name
      return one
    }
    history.add(all, seconds: 5)
    #expect(Set(history.methods.keys.map(\.method)) == ["a/A", "b/B", "other"])
    #expect(history.methods[CallHistory.other]?.latest.rate == 2)
    #expect(history.total?.latest.rate == 4)
    await totals.end()
  }

  /// Another process may name others each time.
  @Test func methodsThatAreNotCountedAnyMoreMakeRoom() async throws {
    let totals = try await TotalsOfCalls()
    var one = try await totals.after(calls: 5, failures: 0)
    var history = CallHistory(limit: 3)
    for round in 0..<5 {
      let all = ["a/A", "b/\(round)", "c/\(round)"].map { name in
        one.method = name
        return one
      }
      history.add(all, seconds: 5)
      #expect(Set(history.methods.keys.map(\.method)) == ["a/A", "b/\(round)", "c/\(round)"])
    }
    await totals.end()
  }

  @Test func whatWasBeforeIsNotCountedBeyondTheLimit() async throws {
    let totals = try await TotalsOfCalls()
    var one = try await totals.after(calls: 5, failures: 0)
    var history = CallHistory(limit: 1)
    let all = ["a/A", "b/B", "c/C"].map { name in
      one.method = name
      return one
    }
    history.begin(all)
    history.add(all, seconds: 5)
    #expect(history.methods[CallHistory.other]?.latest.rate == 0)
    await totals.end()
  }

  /// A process that was stopped has a longer period.
  @Test func aMinuteIsAsLongAsItsPeriods() async throws {
    let totals = try await TotalsOfCalls()
    var history = MethodHistory(.none)
    history.add(try await totals.after(calls: 10, failures: 0), seconds: 95)
    history.add(try await totals.after(calls: 0, failures: 0), seconds: 5)
    #expect(abs(history.latest.rate - 0.1) < 0.001)
    await totals.end()
  }

  /// What was counted before the console was made is no call of its first period.
  @Test func whatWasBeforeIsNotCounted() async throws {
    let totals = try await TotalsOfCalls()
    let before = try await totals.after(calls: 5, failures: 0)
    var history = CallHistory(limit: 10)
    history.begin([before])
    history.add([before], seconds: 5)
    #expect(history.total?.latest.rate == 0)
    await totals.end()
  }
}
