import ConsoleMessages
import SwitchboardCall
import SwitchboardDynamic
import SwitchboardText

/// Begins a call.
struct StartCallAction: ConsoleAction {
  static let name = TryView.name
  static let permission = ConsolePermission.call
  static let bodyLimit = 1 << 20
  static let changesViews = false

  let targets: CallTargets
  let sessions: CallSessions

  func summary(of request: Switchboard_Console_V1_StartCall) -> String? {
    "call \(request.method.excerpt) of \(request.target.excerpt)"
  }

  func refusal(in answer: Switchboard_Console_V1_CallView) -> String? {
    answer.hasMistake ? answer.mistake.text : nil
  }

  func perform(_ request: Switchboard_Console_V1_StartCall) async throws(GRPCStatus)
    -> Switchboard_Console_V1_CallView
  {
    guard let target = targets.named(Array(request.target.utf8)) else {
      return CallMistake("the console shows no server and no channel with this ID, or no longer").view
    }
    do {
      return try await sessions.start(request, on: target, try await targets.schema(of: target).schema)
    } catch let mistake as CallMistake {
      return mistake.view
    } catch {
      return CallMistake("\(error)").view
    }
  }
}

/// Goes on with a call.
struct ContinueCallAction: ConsoleAction {
  static let name = "call"
  static let permission = ConsolePermission.call
  static let bodyLimit = StartCallAction.bodyLimit
  static let changesViews = false

  let sessions: CallSessions

  /// The call itself was logged.
  func summary(of request: Switchboard_Console_V1_ContinueCall) -> String? { nil }

  func perform(_ request: Switchboard_Console_V1_ContinueCall) async throws(GRPCStatus)
    -> Switchboard_Console_V1_CallView
  {
    do {
      return try await sessions.go(on: request)
    } catch {
      return error.view
    }
  }
}
