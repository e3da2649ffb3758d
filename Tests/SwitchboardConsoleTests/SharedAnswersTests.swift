import CallTestSupport
import SwitchboardCall
import SwitchboardTransport
import Testing

@testable import SwitchboardConsole

/// Answers that viewers share.
@Suite(.timeLimit(.minutes(5))) struct SharedAnswersTests {
  private final class Count: Sendable {
    private let value = Locked(0)
    var now: Int { value.withLock { $0 } }
    func next() -> HTTPPage.Response {
      value.withLock { $0 += 1 }
      return HTTPPage.Response()
    }
  }

  @Test func whatWasDoneShowsAtOnce() async {
    let answers = SharedAnswers(ManualTime(), on: globalConcurrentExecutor)
    let count = Count()
    for number in 1...2 {
      for _ in 1...2 { _ = await answers.answer(to: "now") { count.next() } }
      #expect(count.now == number)
      await answers.forget()
    }
  }

  @Test func manyViewersShareOneAnswer() async {
    let (answers, count) = (SharedAnswers(ManualTime(), on: globalConcurrentExecutor), Count())
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { _ = await answers.answer(to: "now?") { count.next() } } }
    }
    #expect(count.now == 1)
  }

  @Test func anOldAnswerIsMadeAnew() async {
    let time = ManualTime()
    let (answers, count) = (SharedAnswers(time, on: globalConcurrentExecutor), Count())
    for (passed, made) in [(0, 1), (400, 1), (200, 2)] {
      time.advance(by: .milliseconds(passed))
      _ = await answers.answer(to: "now?") { count.next() }
      #expect(count.now == made)
    }
  }

  /// How many answers are being made.
  private final class Makers: Sendable {
    private let state = Locked((now: 0, most: 0))
    var most: Int { state.withLock { $0.most } }

    func make() async -> HTTPPage.Response {
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      await Task.yield()
      state.withLock { $0.now -= 1 }
      return HTTPPage.Response()
    }
  }

  @Test func anAnswerThatWaitsHoldsUpNoOther() async throws {
    let (answers, count) = (SharedAnswers(ManualTime(), on: globalConcurrentExecutor), Count())
    let (gate, entered) = (OneShot<Void>(), OneShot<Void>())
    await withTaskGroup { group in
      group.addTask {
        _ = await answers.answer(to: "try?", in: "another server") {
          entered.settle(.success(()))
          try? await gate.value()
          return count.next()
        }
      }
      try? await entered.value()
      for number in 0..<SharedAnswers.mostWaiting {
        group.addTask {
          _ = await answers.answer(to: "try?from=\(number)", in: "another server") { count.next() }
        }
      }
      _ = await answers.answer(to: "now?") { HTTPPage.Response() }
      #expect(count.now == 0)
      gate.settle(.success(()))
    }
    #expect(count.now >= 1)
  }

  /// They are made one after the other, and however many there are, few are kept.
  @Test func differentAnswersAreMadeOneAtATime() async {
    let (answers, makers) = (SharedAnswers(ManualTime(), on: globalConcurrentExecutor), Makers())
    await withTaskGroup { group in
      for number in 0..<(SharedAnswers.mostEntries * 3) {
        group.addTask {
          _ = await answers.answer(to: "now?from=\(number)") { await makers.make() }
        }
      }
    }
    #expect(makers.most == 1)
    #expect(await answers.entryCount <= SharedAnswers.mostEntries)
  }
}
