import SwitchboardCall

/// Finds the handler for a path by its bytes, in an immutable open-addressing hash table.
final class Router: Sendable {
  typealias Route = RPCMethod

  private let slots: [Route?]
  private let paths: [[UInt8]]
  private let mask: Int
  /// The handlers of methods in other formats than their own, by the handler in the table.
  private let others: [ObjectIdentifier: [ContentSubtype: MethodHandler]]

  /// A method of a later provider replaces one with the same path of an earlier provider, which a warning says.
  init(_ providers: [any CallHandlerProvider], _ options: ServerOptions) {
    let factories = (options.interceptorRegistry?.freeze() ?? []) + options.interceptorFactories
    var others: [ObjectIdentifier: [ContentSubtype: MethodHandler]] = [:]
    let handlers = providers.flatMap { provider in
      let handlers = provider.methodHandlers.map { $0.intercepted(by: factories) }
      for handler in handlers {
        let formats = provider.payloadFormats(for: handler.method) + options.payloadFormats
        if !formats.isEmpty { others[ObjectIdentifier(handler)] = Self.handlers(of: handler, in: formats) }
      }
      return handlers
    }
    self.others = others
    var capacity = 8
    while capacity < handlers.count * 4 { capacity *= 2 }
    var slots = [Route?](repeating: nil, count: capacity)
    var paths = [[UInt8]](repeating: [], count: capacity)
    for handler in handlers {
      let path = handler.method.pathBytes
      var index = path.withUnsafeBufferPointer(Self.hash) & (capacity - 1)
      while slots[index] != nil, paths[index] != path { index = (index + 1) & (capacity - 1) }
      if slots[index] != nil {
        let method = ["method": handler.method.path]
        options.logger.log(.warning, "two services have the same method; the later one serves it", method)
      }
      slots[index] = Route(handler)
      paths[index] = path
    }
    self.slots = slots
    self.paths = paths
    mask = capacity - 1
  }

  var routes: [Route] { slots.compactMap(\.self) }

  func route(for path: UnsafeBufferPointer<UInt8>) -> Route? {
    var index = Self.hash(path) & mask
    // Three quarters of the slots are empty, so the loop ends soon.
    while let route = slots[index] {
      if paths[index].withUnsafeBufferPointer({ $0.equals(path) }) { return route }
      index = (index + 1) & mask
    }
    return nil
  }

  /// Returns the variant of the handler for a named message format, if the method is offered in that format.
  func handler(_ handler: MethodHandler, for subtype: ContentSubtype) -> MethodHandler? {
    handler.reads(subtype) ? handler : others[ObjectIdentifier(handler)]?[subtype]
  }

  private static func handlers(
    of handler: MethodHandler,
    in formats: [any PayloadFormat]
  ) -> [ContentSubtype: MethodHandler] {
    var handlers: [ContentSubtype: MethodHandler] = [:]
    for format in formats where handlers[format.contentSubtype] == nil {
      handlers[format.contentSubtype] = handler.inFormat(format)
    }
    return handlers
  }

  /// FNV-1a over the length and the last bytes, in which the methods of a service differ. An attacker gains nothing
  /// from collisions, because the table contains only the server's own paths.
  private static func hash(_ path: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt32 = 2_166_136_261 ^ UInt32(truncatingIfNeeded: path.count)
    for byte in path.suffix(24) { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash ^ hash >> 15)
  }
}
