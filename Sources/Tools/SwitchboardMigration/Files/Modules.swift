/// The modules of grpc-swift and of what came with it.
enum Modules {
  /// What takes the place of a module.
  enum Successor: Sendable, Hashable {
    case module(String)
    /// Switchboard, unless the file uses something else of it.
    case switchboardIfAlone
  }

  static let one = set(["GRPC"])
  static let two = set([
    "GRPCCore", "GRPCProtobuf", "GRPCNIOTransportHTTP2", "GRPCNIOTransportHTTP2Posix",
    "GRPCNIOTransportHTTP2TransportServices", "GRPCNIOTransportCore", "GRPCInProcessTransport",
    "GRPCHealthService", "GRPCOTelTracingInterceptors", "GRPCServiceLifecycle",
  ])
  static let nio = set([
    "NIO", "NIOCore", "NIOPosix", "NIOHPACK", "NIOHTTP2", "NIOSSL", "NIOTransportServices", "NIOEmbedded",
    "NIOConcurrencyHelpers",
  ])
  static let messages = Array("SwiftProtobuf".utf8)
  static let switchboard = Array("Switchboard".utf8)

  /// Modules that a name may be qualified with.
  static let qualifiers = one.union(two).union(nio).union([switchboard])

  private static let others: [[UInt8]: String] = [
    Array("SwiftProtobuf".utf8): "SwitchboardProtobuf",
    Array("GRPCHealthService".utf8): "SwitchboardServices",
    Array("GRPCReflectionService".utf8): "SwitchboardServices",
    Array("GRPCOTelTracingInterceptors".utf8): "SwitchboardTelemetry",
    Array("GRPCServiceLifecycle".utf8): "SwitchboardServiceLifecycle",
  ]

  static func successor(of module: [UInt8]) -> Successor? {
    if let other = others[module] { return .module(other) }
    if one.contains(module) || two.contains(module) { return .module("Switchboard") }
    return nio.contains(module) ? .switchboardIfAlone : nil
  }

  private static func set(_ names: [String]) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }

  /// What NIO has under names that do not begin with its own, and Switchboard does not have.
  static let namesOfNIO = set([
    "ByteBuffer", "ByteBufferAllocator", "ByteBufferView", "ChannelHandler", "ChannelInboundHandler",
    "ChannelOutboundHandler", "ChannelDuplexHandler", "ChannelHandlerContext", "ChannelPipeline",
    "ClientBootstrap", "ServerBootstrap", "DatagramBootstrap", "EmbeddedChannel", "EmbeddedEventLoop",
    "Scheduled", "RepeatedTask", "NonBlockingFileIO", "FileRegion", "IOData", "ByteToMessageDecoder",
    "ByteToMessageHandler", "MessageToByteEncoder", "CircularBuffer", "HPACKEncoder", "HPACKDecoder",
    "HTTP2Frame", "HTTP2StreamID", "TLSConfiguration", "RemovableChannelHandler", "AddressedEnvelope",
    "WebSocketFrame", "HTTPHeaders", "SelectableEventLoop", "ChannelError", "EventLoopIterator",
  ])

  /// Names that begin as NIO's do, and say nothing about its modules: the modules' own, those of its locks, and what rules
  /// replace.
  static let withoutSuccessor = nio.union(
    set([
      "NIOLock", "NIOLockedValueBox", "NIOConditionLock", "NIOSingletons", "NIOSSLCertificate",
      "NIOSSLPrivateKey",
    ])
  )

  /// What NIOConcurrencyHelpers has.
  static let locks = set([
    "NIOLock", "NIOLockedValueBox", "NIOConditionLock", "NIOAtomic", "Lock", "ConditionLock",
  ])
  static let helpers = Array("NIOConcurrencyHelpers".utf8)

  /// What both have under the same name.
  static let shared = set([
    "Channel", "ChannelOptions", "EventLoop", "EventLoopFuture", "EventLoopPromise", "EventLoopGroup",
    "HPACKHeaders", "MultiThreadedEventLoopGroup", "SocketAddress", "TimeAmount",
  ])
}
