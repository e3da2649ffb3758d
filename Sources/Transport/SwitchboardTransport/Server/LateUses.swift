import SwitchboardCall
import SwitchboardNetwork

/// Hears of tasks that use the streams of a method's calls after their handlers have returned. The errors that they get go
/// nowhere, unless the tasks look at them.
final class LateUses: MessagePipe.LateUseReporter {
  let method: RPCMethod
  private let log: ServerLog
  private let loop: Loop

  init(_ method: RPCMethod, _ log: ServerLog, _ loop: Loop) {
    self.method = method
    self.log = log
    self.loop = loop
  }

  func pipeWasUsedLate(_ use: MessagePipe.LateUse) {
    log.report(use == .read ? .read : .sent, (method.descriptor.path, [:]), on: loop)
  }
}
