public import SwitchboardTransport

/// Something that a console may do for those who see it. By default, it only shows.
public enum ConsolePermission: String, Sendable, Hashable, CaseIterable {
  /// Call the methods of servers, and what channels lead to. Servers of the process see these calls as those of a client within
  /// the process, without a certificate; others see the identity of the channel.
  case call
  /// Shut a server down: it accepts no more calls, and lets those in progress end.
  case drain
  /// Change from which level on servers and channels log.
  case logLevel
  /// Have another share of a method's traces recorded, for some minutes.
  case sampling
  /// Look at what the event loops do, for some seconds.
  case profile
}

/// Who may have a console do something. Whoever may do so must be allowed to see it, too: see ``ConsoleAccess``.
///
/// ```swift
/// options.permissions = .everyone([.drain])
/// ```
public enum ConsolePermissions: Sendable {
  /// Everybody who may see the console may do these.
  case everyone(Set<ConsolePermission>)
  /// Those whose requests this accepts, such as by a client's certificate (`request.peer`). It is asked before anything is
  /// done, and to show what can be done; it must not block.
  case requests(@Sendable (HTTPPage.Request, ConsolePermission) async -> Bool)

  /// Whether the request may do it.
  func allow(_ permission: ConsolePermission, _ request: HTTPPage.Request) async -> Bool {
    switch self {
    case .everyone(let permissions): permissions.contains(permission)
    case .requests(let isAllowed): await isAllowed(request, permission)
    }
  }
}
