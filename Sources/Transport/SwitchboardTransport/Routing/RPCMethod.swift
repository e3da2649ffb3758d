import SwitchboardCall
import Synchronization

/// A method that the server has, with the handler of one of its message formats.
package final class RPCMethod: Sendable {
  let handler: MethodHandler
  /// A number that no other method of the process has, nor the same method in another payload format; never zero.
  let number: UInt
  private static let lastNumber = Atomic<UInt>(0)
  /// Its handlers that run on although their calls have ended.
  let abandoned: HandlerCount
  /// Where the handler runs; `nil`: on the loop.
  let executor: (any TaskExecutor)?
  /// Each call reads this, and reading the executor itself would copy it.
  let runsOnLoop: Bool
  /// Whether its calls have a stream of requests.
  package let streamsRequests: Bool
  /// The names of the handler's own format. Most calls that name a format use one of these.
  private let ownNames: [ContentSubtype]
  private let others: [(subtype: ContentSubtype, method: RPCMethod)]
  /// Formats that were offered, and have no marshaller for the method's messages.
  private let lacking: [ContentSubtype]

  /// The later of two formats with one name has no effect.
  init(
    _ handler: MethodHandler,
    formats: [any PayloadFormat] = [],
    placement: HandlerPlacement = .loop
  ) {
    self.handler = handler
    abandoned = HandlerCount()
    number = Self.nextNumber()
    executor = placement.executor
    runsOnLoop = executor == nil
    streamsRequests = handler.method.type.streamsRequests
    let foreign = handler.foreignFormats.requests.map { ContentSubtype($0) } ?? .proto
    ownNames = ([.proto, .json] + ([.proto, .json].contains(foreign) ? [] : [foreign])).filter(handler.reads)
    var others: [(subtype: ContentSubtype, method: RPCMethod)] = []
    var lacking: [ContentSubtype] = []
    for format in formats where !handler.reads(format.contentSubtype) {
      guard !others.contains(where: { $0.subtype == format.contentSubtype }) else { continue }
      if let other = handler.inFormat(format) {
        others.append((format.contentSubtype, RPCMethod(other, placement: placement)))
      } else {
        lacking.append(format.contentSubtype)
      }
    }
    (self.others, self.lacking) = (others, lacking)
  }

  /// `method` with a handler that takes its messages in another form.
  private init(_ method: RPCMethod, _ handler: MethodHandler) {
    self.handler = handler
    abandoned = method.abandoned
    number = method.number
    executor = method.executor
    runsOnLoop = method.runsOnLoop
    streamsRequests = method.streamsRequests
    (ownNames, others, lacking) = ([], [], [])
  }

  /// The formats in which the method can be called, by their names.
  var formats: [ContentSubtype] { ownNames + others.map(\.subtype) }

  /// What an error adds about the content types that the method takes.
  func accepts(_ types: [String]) -> String {
    let isForeign = handler.foreignFormats != (nil, nil) && !formats.contains(.proto)
    guard types.isEmpty else {
      return "; it takes \(types.joined(separator: " and "))"
        + (isForeign ? ": its messages are not protobuf" : "")
    }
    guard isForeign else { return "" }
    return
      ": its requests and its responses are of different formats, and ServerOptions.payloadFormats has none for both"
  }

  /// What an error adds about a format that the method lacks: how it gets JSON.
  func advice(for subtype: ContentSubtype) -> String {
    guard subtype == .json, !formats.contains(.json) else { return "" }
    return lacking.contains(.json)
      ? "; the server's format for JSON has no marshaller for its messages, which are neither protobuf nor Codable"
      : "; for JSON, the server needs ServerOptions.payloadFormats = [JSONFormat()]"
  }

  /// A number that no other method has, of a server or called by a channel.
  static func nextNumber() -> UInt { lastNumber.add(1, ordering: .relaxed).newValue }

  /// What `LoopActivity` knows the method by.
  var mark: UInt { number << 1 | 1 }

  var inAllFormats: [RPCMethod] { [self] + others.map(\.method) }

  package var descriptor: MethodDescriptor { handler.method }

  /// The method with the handler for a message format: the method's own, its service's, or one of the server's options.
  /// `nil` if there is none.
  package func inFormat(_ subtype: ContentSubtype) -> RPCMethod? {
    if ownNames.contains(subtype) { return self }
    if let other = others.first(where: { $0.subtype == subtype }) { return other.method }
    return handler.reads(subtype) ? self : nil
  }

  /// The method in the form of a dialect, for that dialect alone.
  package func inFormat(_ format: any MethodFormat) -> RPCMethod { RPCMethod(self, handler.inFormat(format)) }
}
