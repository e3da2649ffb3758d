import SwitchboardCall

extension Router {
  /// The methods of a server. Throws if a provider finds fault with its handlers, if one has not the form of its method, if two
  /// have the same path, if a method lacks an interceptor that the options require, or if the options name methods that there
  /// are not.
  convenience init(_ providers: [any CallHandlerProvider], _ options: ServerOptions) throws(GRPCStatus) {
    let registered = options.interceptorRegistry?.freeze(for: .server).server
    if registered == nil { UnusedFactories.ofProcess.report(to: .server, options.logger) }
    let factories = (registered ?? []) + options.interceptorFactories
    let methods = providers.flatMap { provider in
      provider.methodHandlers.map { handler in
        RPCMethod(
          handler.intercepted(by: factories),
          formats: provider.payloadFormats(for: handler.method) + options.payloadFormats,
          placement: options.handlerPlacements.placement(of: handler.method)
        )
      }
    }
    for case let provider as any CheckedProvider in providers { try provider.check() }
    for method in methods { try method.handler.checkType() }
    try options.requiredInterceptors.check(methods)
    try options.handlerPlacements.check(methods.map(\.descriptor))
    try self.init(methods)
    let services = providers.map(\.serviceName) + methods.map(\.descriptor.service)
    for case let provider as any ServiceObserver in providers {
      provider.serverWasMade(of: services, options.logger)
    }
  }
}
