import TestSupport

extension ChildProcess {
  /// `FaultSubject`, told what to have done to it.
  static func faultSubject(_ words: [String]) throws -> ChildProcess {
    try ChildProcess(Command.path(ofProduct: "FaultSubject"), words, errors: .discarded)
  }
}
