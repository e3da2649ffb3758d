import SwitchboardCall

/// Numbers of the methods that channels of the process call, by which the watchdog finds their paths: it must not touch a
/// method that may be gone.
final class CalledMethods: Sendable {
  static let ofProcess = CalledMethods()

  /// A program that makes up methods must not fill the memory.
  private static let most = 1024
  /// That of methods without a number.
  private static let noName: UInt = 1

  private struct State: Sendable {
    var numbers: [[UInt8]: UInt] = [:]
    var paths: [UInt: String] = [:]
  }

  private let state = Locked(State())

  /// What `LoopActivity` knows the method by.
  @inline(__always)
  static func mark(of method: MethodDescriptor) -> UInt {
    let known = method.callMark.load(ordering: .relaxed)
    return known != 0 ? known : ofProcess.makeMark(for: method)
  }

  private func makeMark(for method: MethodDescriptor) -> UInt {
    let number = state.withLock { state in
      if let known = state.numbers[method.pathBytes] { return known }
      guard state.numbers.count < Self.most else { return 0 as UInt }
      let new = RPCMethod.nextNumber()
      state.numbers[method.pathBytes] = new
      state.paths[new] = method.path
      return new
    }
    let mark = number << 1 | Self.noName
    method.callMark.store(mark, ordering: .relaxed)
    return mark
  }

  func path(of number: UInt) -> String? { state.withLock { $0.paths[number] } }
}
