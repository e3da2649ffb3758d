import TestSupport

extension ChildProcess {
  /// `FaultSubject` with the arguments of a scenario.
  static func faultSubject(_ words: [String]) throws -> ChildProcess {
    try ChildProcess(Command.path(ofProduct: "FaultSubject"), words, errors: .discarded)
  }
}
