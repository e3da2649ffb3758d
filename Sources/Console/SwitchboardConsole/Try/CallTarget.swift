import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardServices
import SwitchboardText
import SwitchboardTransport

/// A server or a channel that calls of the page go to.
protocol CallTarget: Sendable {
  /// Names it in requests.
  var id: String { get }
  var name: String { get }
  /// Whether calls stay in the process.
  var isInProcess: Bool { get }
  /// The metadata of all its calls, beside that of the viewer's.
  var metadata: HPACKHeaders { get }
  /// Where other programs can call it, if that is known.
  func reach() async -> CallReach?
  func channel() throws(GRPCStatus) -> Channel
  func schema() async throws -> TargetSchema
  /// Why curl cannot call a method; empty if it can.
  func noCurl(_ method: SchemaMethod) -> String
}

/// Where other programs can call something.
struct CallReach: Sendable {
  let address: String
  let usesTLS: Bool

  init(address: String, usesTLS: Bool) { (self.address, self.usesTLS) = (address, usesTLS) }

  /// Where a server listens, as programs of this machine find it.
  init(_ listener: SocketAddress, usesTLS: Bool) {
    self.usesTLS = usesTLS
    guard listener.port > 0 else {
      address = "\(listener)"
      return
    }
    let isAny = ["0.0.0.0", "::"].contains { listener.host.isExactly($0) }
    let host = isAny ? "localhost" : listener.host
    address =
      host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(listener.port)" : "\(host):\(listener.port)"
  }
}

/// The methods of a target.
struct TargetSchema: Sendable {
  let schema: Schema
  /// Which services it does not describe, and what to do about it; empty if it describes all.
  var remark = ""

  static func undescribed(_ services: [String], _ advice: String) -> String {
    guard !services.isEmpty else { return "" }
    let shown = services.prefix(5).map(\.excerpt).joined(separator: ", ")
    let more = services.count > 5 ? " and \(services.count - 5) more" : ""
    return "There are no descriptors of \(shown)\(more): \(advice)"
  }
}

/// A server of the process. Its interceptors see the calls as those of a client within the process.
struct ServerTarget: CallTarget {
  let server: Server
  let id: String
  let name: String

  init(_ known: ChannelzEntries.KnownServer) {
    server = known.server
    id = NodeID(.server, known.id).text
    name = known.name.isEmpty ? "server" : known.name
  }

  var isInProcess: Bool { true }
  var metadata: HPACKHeaders { [:] }

  func reach() async -> CallReach? {
    let listeners = await server.snapshot(listsConnections: false).listeners
    return listeners.first.map { CallReach($0.address, usesTLS: server.usesTLS) }
  }

  func channel() throws(GRPCStatus) -> Channel {
    var options = ChannelOptions()
    options.logger = .quiet
    return try Channel(to: server, channelOptions: options)
  }

  func schema() async throws -> TargetSchema {
    let schema = try Schema(try ReflectionService.files(describing: server.providers))
    let missing = server.providers.map(\.serviceName).filter { schema.service(named: $0) == nil }
    // Reflection describes itself, and is no use here.
    let undescribed = missing.filter { !$0.begins(with: "grpc.reflection.") }
    return TargetSchema(
      schema: schema,
      remark: TargetSchema.undescribed(undescribed, "generate them with the option ReflectionData=true")
    )
  }

  func noCurl(_ method: SchemaMethod) -> String {
    if let reason = method.noCurl { return reason }
    guard server.speaksConnect else { return "the server does not speak Connect: ServerOptions.web" }
    guard server.takesJSON(method.path) else {
      return "the server takes no JSON for this method: ServerOptions.payloadFormats"
    }
    return ""
  }
}

/// What a channel leads to. Its descriptors come from that, by reflection.
struct ChannelTarget: CallTarget {
  let opened: Channel
  let peer: any ReflectionPeer
  let id: String
  let name: String
  var known: CallReach?

  /// A server of another process.
  init(_ channel: Channel, _ peer: any ReflectionPeer, _ reach: CallReach) {
    (opened, self.peer, known) = (channel, peer, reach)
    (id, name) = ("server", peer.text)
  }

  init(_ known: ChannelzEntries.KnownChannel) {
    opened = known.channel
    id = NodeID(.channel, known.id).text
    name = known.name.isEmpty ? "channel" : known.name
    peer = ChannelPeer(text: name)
  }

  var isInProcess: Bool { false }
  var metadata: HPACKHeaders { peer.metadata }

  func reach() async -> CallReach? { known }

  func channel() throws(GRPCStatus) -> Channel { opened }

  func schema() async throws -> TargetSchema {
    let client = ReflectionClient(PlainPeer(peer), opened)
    let services = try await client.services()
    let undescribed = try await client.fetch(Array(services.prefix(Self.mostServices)))
    let left = services.count - Self.mostServices
    let remarks = [
      TargetSchema.undescribed(undescribed, "its reflection service does not know them"),
      left > 0 ? "It has \(left) more services than the \(Self.mostServices) that are shown" : "",
    ]
    return TargetSchema(
      schema: try await client.schema(),
      remark: remarks.filter { !$0.isEmpty }.joined(separator: ". ")
    )
  }

  /// The most services of a server whose methods are shown.
  static let mostServices = 1000

  func noCurl(_ method: SchemaMethod) -> String {
    method.noCurl
      ?? (known == nil ? "the console does not know the address of a server behind a channel" : "")
  }
}

extension SchemaMethod {
  /// Why curl cannot call the method on any server.
  fileprivate var noCurl: String? {
    type == .unary ? nil : "streams of Connect have frames that curl cannot write"
  }
}

/// A peer whose failures are said as they are: what the command says of them besides, such as its flags, is of no use here.
private struct PlainPeer: ReflectionPeer {
  let peer: any ReflectionPeer

  init(_ peer: any ReflectionPeer) { self.peer = peer }

  var text: String { peer.text }
  var metadata: HPACKHeaders { peer.metadata }

  func lacksMethod(_ status: GRPCStatus) -> Bool { peer.lacksMethod(status) }
  func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto] { peer.knownFiles(names) }
  func error(for failure: SchemaFailure) -> any Error { failure }
}

/// What a channel leads to, of which only its name is known.
private struct ChannelPeer: ReflectionPeer {
  let text: String
  var metadata: HPACKHeaders { [:] }

  func lacksMethod(_ status: GRPCStatus) -> Bool { status.code == .unimplemented }
  func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto] { [] }
  func error(for failure: SchemaFailure) -> any Error { failure }
}
