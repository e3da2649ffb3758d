import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTransport

/// Begins a profile of the event loops.
struct ProfileAction: ConsoleAction {
  static let name = "profile"
  static let permission = ConsolePermission.profile

  let taker: ProfileTaker

  private static let usual = 10.0
  private static let longest = 60.0

  func summary(of request: Switchboard_Console_V1_ProfileRequest) -> String? {
    "take a profile of the event loops"
  }

  func perform(_ request: Switchboard_Console_V1_ProfileRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_ProfileAnswer
  {
    let seconds = request.seconds == 0 ? Self.usual : request.seconds
    guard (1...Self.longest).contains(seconds) else {
      throw GRPCStatus(code: .invalidArgument, message: "seconds is a number from 1 to 60")
    }
    try taker.begin(.milliseconds(Int64(seconds * 1000)))
    return Switchboard_Console_V1_ProfileAnswer()
  }
}

/// Answers with the last profile.
struct ProfileView: ConsoleView {
  static let name = "profile"
  static let permission: ConsolePermission? = .profile

  let taker: ProfileTaker

  func waitsFor(_ query: ViewQuery) -> String { "" }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_Profile {
    taker.latest ?? Switchboard_Console_V1_Profile()
  }
}
