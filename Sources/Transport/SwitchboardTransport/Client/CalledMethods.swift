import SwitchboardCall
import Synchronization

/// Numbers of the methods that channels of the process call, by which the watchdog finds their paths: it must not touch a
/// method that may be gone.
final class CalledMethods: Sendable {
  static let ofProcess = CalledMethods()

  /// A program that makes up methods, such as a proxy, must not fill the memory: after so many, numbers are given anew,
  /// and methods that are still called get another one.
  private static let most = 1024

  private struct State: Sendable {
    var numbers: [[UInt8]: UInt] = [:]
    var paths: [UInt: String] = [:]
  }

  private let state = Locked(State())
  /// The least number that has a path.
  private let least = Atomic<UInt>(0)

  /// What `LoopActivity` knows the method by.
  @inline(__always)
  func mark(of method: MethodDescriptor) -> UInt {
    let known = method.callMark.load(ordering: .relaxed)
    return known >> 1 >= least.load(ordering: .relaxed) && known != 0 ? known : makeMark(for: method)
  }

  private func makeMark(for method: MethodDescriptor) -> UInt {
    let number = state.withLock { state in
      if let known = state.numbers[method.pathBytes] { return known }
      let new = RPCMethod.nextNumber()
      if state.numbers.count >= Self.most {
        state = State()
        least.store(new, ordering: .relaxed)
      }
      state.numbers[method.pathBytes] = new
      state.paths[new] = method.path
      return new
    }
    let mark = number << 1 | 1
    method.callMark.store(mark, ordering: .relaxed)
    return mark
  }

  func path(of number: UInt) -> String? { state.withLock { $0.paths[number] } }
}
