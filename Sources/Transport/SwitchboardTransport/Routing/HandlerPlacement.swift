import SwitchboardCall
import SwitchboardNetwork

/// Where a handler runs. Interceptors always run on the loop of the call's connection.
public enum HandlerPlacement: Sendable {
  /// On the loop of the call's connection, without a thread switch: for handlers that await whatever takes long. One that
  /// blocks makes all other calls of its loop wait.
  case loop
  /// On threads that the process keeps for handlers, up to 64: for handlers that block, or compute for long.
  case threads
  /// On an executor of the program.
  case executor(any TaskExecutor)

  /// `nil`: the loop.
  var executor: (any TaskExecutor)? {
    switch self {
    case .loop: nil
    case .threads: HandlerThreads.shared
    case .executor(let executor): executor
    }
  }
}

/// Where the handlers of a server run: all of them, or those of a service or a method.
///
/// ```swift
/// var options = ServerOptions()
/// options.handlerPlacements["shop.Reports"] = .threads
/// options.handlerPlacements["/shop.Shop/Export"] = .threads
/// ```
public struct HandlerPlacements: Sendable {
  /// Where handlers run that no name chooses a place for.
  public var standard: HandlerPlacement
  private var named: [(name: String, placement: HandlerPlacement)] = []

  /// All handlers run here.
  public init(_ standard: HandlerPlacement = .loop) { self.standard = standard }

  /// The place of the handlers of a service, by its full name, or of one method, by its path; `nil` if it is that of the
  /// service, or the standard one. A server that lacks the service or the method cannot be created.
  public subscript(name: String) -> HandlerPlacement? {
    get { named.first { $0.name == name }?.placement }
    set {
      named.removeAll { $0.name == name }
      if let newValue { named.append((name, newValue)) }
    }
  }

  /// What the places of single services and methods are chosen by.
  package var names: [String] { named.map(\.name) }

  func placement(of method: MethodDescriptor) -> HandlerPlacement {
    self[method.path] ?? self[method.service] ?? standard
  }

  func check(_ methods: [MethodDescriptor]) throws(GRPCStatus) {
    let unknown = named.map(\.name).filter { name in
      !methods.contains { $0.path == name || $0.service == name }
    }
    guard !unknown.isEmpty else { return }
    let names = unknown.sorted().joined(separator: ", ")
    let forms = "a service such as shop.Shop, or a method such as /shop.Shop/Find"
    throw GRPCStatus(
      code: .failedPrecondition,
      message: "handlerPlacements: the server does not have \(names): a name is that of \(forms)"
    )
  }
}
