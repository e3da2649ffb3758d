// text: paths that the program has

import SwitchboardCall
import SwitchboardText

extension Router {
  /// The methods of a server. Throws if a provider finds fault with its handlers, if one has not the form of its method, if two
  /// have the same path, if a method lacks an interceptor that the options require, or if the options name methods that there
  /// are not.
  convenience init(_ providers: [any CallHandlerProvider], _ options: ServerOptions) throws(GRPCStatus) {
    let registered = options.interceptorRegistry?.freeze(for: .server).server
    if registered == nil { UnusedFactories.ofProcess.report(to: .server, options.logger) }
    let factories = (registered ?? []) + options.interceptorFactories
    for name in factories.namesOfCopies {
      options.logger.log(.warning, "the same interceptors run twice in every call", ["factory": name])
    }
    let guards = factories.compactMap { $0 as? any ServerGuard }
    var repeated: [String: [String]] = [:]
    let methods = providers.flatMap { provider in
      provider.methodHandlers.map { handler in
        for name in handler.namesOfGuards(among: guards) {
          repeated[name, default: []].append(handler.method.path)
        }
        return RPCMethod(
          handler.intercepted(by: factories),
          formats: provider.payloadFormats(for: handler.method) + options.payloadFormats,
          placement: options.handlerPlacements.placement(of: handler.method)
        )
      }
    }
    for (name, paths) in repeated.sorted(by: { $0.key.precedes($1.key) }) {
      options.logger.log(
        .warning,
        "a guard runs twice in every call of some methods: ServerOptions has it, and so have these",
        ["guard": name, "methods": paths.prefix(10).joined(separator: ", ")]
      )
    }
    for case let provider as any CheckedProvider in providers { try provider.check() }
    for method in methods {
      try method.descriptor.checkNames()
      try method.handler.checkType()
    }
    let guarded = try options.requiredInterceptors.check(methods)
    if !guarded.isEmpty {
      options.logger.log(
        .warning,
        "requiredInterceptors excepts methods that have a required interceptor nevertheless, which decides on their calls, too: "
          + "give it to the other services, in place of ServerOptions.interceptorFactories",
        ["methods": guarded.prefix(10).joined(separator: ", ")]
      )
    }
    try options.handlerPlacements.check(methods.map(\.descriptor))
    try self.init(methods)
  }

  /// Tells the providers that want to know it what else their server offers, once it is made. One in the process alone never
  /// tells them of its end.
  func serverWasMade(of providers: [any CallHandlerProvider], _ options: ServerOptions, isInProcess: Bool) {
    let services = providers.map(\.serviceName) + methods.map(\.descriptor.service)
    for case let provider as any ServiceObserver in providers {
      provider.serverWasMade(of: services, isInProcess: isInProcess, options.logger)
    }
  }
}

extension [any ServerInterceptorFactory] {
  /// The types of those that are there several times.
  fileprivate var namesOfCopies: [String] {
    var seen: Set<ObjectIdentifier> = []
    var repeated: Set<ObjectIdentifier> = []
    return compactMap { factory in
      guard let identity = factory.sameness, !seen.insert(identity).inserted,
        repeated.insert(identity).inserted
      else { return nil }
      return "\(Swift.type(of: factory))"
    }
  }
}

extension MethodDescriptor {
  /// Throws if the path is not the one that clients have by the names.
  fileprivate func checkNames() throws(GRPCStatus) {
    guard let wrong = [service, method].first(where: { !Self.isName($0) }) else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message:
        "\(path): \(wrong.debugDescription) is no name: those of a service and its methods are not empty, and have letters, "
        + "digits and other characters of ASCII, without a space, a slash, ? or #: of shop.Shop and Get, the path is "
        + "/shop.Shop/Get"
    )
  }
}
