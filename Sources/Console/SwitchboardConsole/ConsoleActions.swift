import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport

/// What the console does for those who may have it done.
struct ConsoleActions: Sendable {
  private let actions: [any ConsoleAction]
  private let viewNames: [String]
  private let permissions: ConsolePermissions
  private let logger: Logger
  private let answers: SharedAnswers
  private let clock: ConsoleClock

  /// `answers` are those of the views, of which some are old once something was done.
  init(_ views: ConsoleViews, _ options: ConsoleOptions, _ answers: SharedAnswers, _ clock: ConsoleClock) {
    actions =
      [
        StartCallAction(targets: views.targets, sessions: views.calls),
        ContinueCallAction(sessions: views.calls),
      ] + views.ownActions
    viewNames = views.all.map { type(of: $0).name }
    permissions = options.permissions
    logger = options.logger
    self.answers = answers
    self.clock = clock
  }

  /// A page for each action, of which `answer` makes the responses.
  func pages(
    at place: ConsolePlace,
    _ answer: @escaping @Sendable (any ConsoleAction, HTTPPage.Request) async -> HTTPPage.Response
  ) -> [HTTPPage] {
    actions.map { action in
      let kind = type(of: action)
      return HTTPPage("POST", place.path(kind.name), bodyLimit: kind.bodyLimit) { await answer(action, $0) }
    }
  }

  /// What the request may do.
  func session(of request: HTTPPage.Request) async -> HTTPPage.Response {
    var session = Switchboard_Console_V1_Session()
    session.views = viewNames
    for permission in ConsolePermission.allCases where await permissions.allow(permission, request) {
      session.permissions.append(permission.rawValue)
    }
    return .json(session)
  }

  func answer(_ action: any ConsoleAction, _ request: HTTPPage.Request) async -> HTTPPage.Response {
    // A form of another site cannot send this type.
    let type = request.headers.first(name: "content-type") ?? ""
    guard type.utf8.starts(with: "application/json".utf8) else {
      return .text(415, "the console takes application/json")
    }
    if let refusal = await refusal(of: request, Swift.type(of: action).permission) { return refusal }
    return await perform(action, request)
  }

  /// The answer to a request that may not do something; `nil` if it may.
  func refusal(of request: HTTPPage.Request, _ permission: ConsolePermission) async -> HTTPPage.Response? {
    guard await permissions.allow(permission, request) else {
      return .text(
        403,
        "the console may not do this: ConsoleOptions.permissions lacks .\(permission.rawValue)"
      )
    }
    return nil
  }

  private func perform<Action: ConsoleAction>(_ action: Action, _ request: HTTPPage.Request) async
    -> HTTPPage.Response
  {
    let wanted: Action.Request
    do {
      wanted = try await decoded(request.body)
    } catch {
      return .text(400, "the request cannot be read: \(error)")
    }
    let summary = action.summary(of: wanted)
    do throws(GRPCStatus) {
      let answer = try await action.perform(wanted)
      log(summary, action.refusal(in: answer), request)
      if Action.changesViews { await answers.forget() }
      return .json(answer)
    } catch {
      log(summary, error.message ?? "\(error.code)", request)
      return .text(error.httpStatusOfPage, error.message ?? "\(error.code)")
    }
  }

  /// Requests from this size on are decoded on the console's own loop, so that the calls of the loop go on that has the page.
  private static let largeRequest = 16 * 1024

  private func decoded<Request: Message>(_ body: [UInt8]) async throws -> Request {
    guard body.count >= Self.largeRequest else { return try Request(jsonUTF8Bytes: body) }
    return try await Task.detached(executorPreference: clock.loop) { try Request(jsonUTF8Bytes: body) }.value
  }

  /// Logs what a viewer asked for, once it is known whether the console does it.
  private func log(_ summary: String?, _ refusal: String?, _ request: HTTPPage.Request) {
    guard let summary else { return }
    var details = ["viewer": request.peer.address]
    // It may quote the request.
    details["reason"] = refusal?.excerpt(300)
    let does = refusal == nil ? "does" : "refuses"
    logger.log(.info, "the console \(does) what a viewer asked for: \(summary.excerpt(300))", details)
  }
}

extension GRPCStatus {
  fileprivate var httpStatusOfPage: Int {
    switch code {
    case .invalidArgument, .outOfRange: 400
    case .notFound: 404
    case .failedPrecondition, .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    default: 500
    }
  }
}
