import SwitchboardCall
import SwitchboardNetwork

/// The handlers of a call that have not returned, and the task of one that has suspended or runs elsewhere.
///
/// ```
///   none ──start──> running ──it suspends──> suspended ──it returns, or the call ends──> none
/// ```
struct RunningHandlers {
  /// A call has several handlers if its interceptors repeat it.
  private(set) var count = 0
  private(set) var task: Task<Void, any Error>?
  /// The address of a task on the loop whose handler has suspended, or zero.
  private var known: UInt = 0

  mutating func start(_ number: Int) { count += number }

  mutating func end(_ number: Int, in marks: TaskMarks) {
    count -= number
    forget(in: marks)
  }

  /// Keeps a task that does not run on the loop.
  mutating func keep(_ task: consuming Task<Void, any Error>) { self.task = task }

  /// Keeps a task on the loop, where others can see whose work it is.
  mutating func keep(_ task: consuming Task<Void, any Error>, marked mark: UInt, in marks: TaskMarks) {
    forget(in: marks)
    known = TaskMarks.address(of: task)
    marks.add(known, mark)
    self.task = task
  }

  private mutating func forget(in marks: TaskMarks) {
    guard known != 0 else { return }
    marks.remove(known)
    known = 0
  }

  mutating func dropTask() { task = nil }
}
