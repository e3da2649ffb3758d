import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct RunningHandlersTests {
  private let marks = TaskMarks()

  @Test func handlersThatReturnAreNotCounted() {
    var handlers = RunningHandlers()
    handlers.start(2)
    handlers.end(1, in: marks)
    #expect(handlers.count == 1)
    handlers.end(1, in: marks)
    #expect(handlers.count == 0)
  }

  @Test func aTaskIsMarkedUntilItsHandlerReturns() {
    var handlers = RunningHandlers()
    let (first, second) = (Task<Void, any Error> {}, Task<Void, any Error> {})
    handlers.start(1)
    handlers.keep(first, marked: 3, in: marks)
    #expect(marks.mark(of: TaskMarks.address(of: first)) == 3)
    handlers.keep(second, marked: 5, in: marks)
    #expect(marks.mark(of: TaskMarks.address(of: first)) == 0)
    #expect(marks.mark(of: TaskMarks.address(of: second)) == 5 && handlers.task == second)
    handlers.end(1, in: marks)
    #expect(marks.mark(of: TaskMarks.address(of: second)) == 0 && handlers.task == second)
    handlers.dropTask()
    #expect(handlers.task == nil)
  }

  @Test func aTaskElsewhereIsNotMarked() {
    var handlers = RunningHandlers()
    let task = Task<Void, any Error> {}
    handlers.keep(task)
    #expect(marks.mark(of: TaskMarks.address(of: task)) == 0 && handlers.task == task)
  }
}
