import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// What a name stands for.
struct ListenerResource: Hashable, Sendable {
  enum Routes: Hashable, Sendable {
    case inline(RouteTable)
    /// A resource of its own.
    case named(String)
    /// None: the listener is a server's.
    case ofServer
  }

  var routes: Routes
  /// The longest that a call may take, if its route says nothing. `nil`: without limit.
  var maxStreamDuration: Duration?
  /// In the order in which calls pass them.
  var filters: [FaultFilter] = []
  /// What keeps the calls of a session at one server.
  var session: SessionFilter?
}

private typealias ConnectionManager =
  Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager

extension ListenerResource {
  init(
    _ listener: Envoy_Config_Listener_V3_Listener,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    guard listener.hasApiListener else {
      self.init(routes: .ofServer)
      return
    }
    self = try part("api_listener") { () throws(ResourceFault) in
      let manager = try listener.apiListener.apiListener.contents(ConnectionManager.self)
      return try ListenerResource(manager, patterns, isTrusted)
    }
  }

  private init(
    _ manager: ConnectionManager,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    if manager.xffNumTrustedHops != 0 { throw ResourceFault("xff_num_trusted_hops", "is not 0") }
    if !manager.originalIpDetectionExtensions.isEmpty {
      throw ResourceFault("original_ip_detection_extensions", "are not supported")
    }
    (filters, session) = try HTTPFilters.known(manager.httpFilters)
    switch manager.routeSpecifier {
    case .rds(let rds):
      routes = .named(try part("rds") { () throws(ResourceFault) in try Self.name(rds) })
    case .routeConfig(let config):
      routes = .inline(
        try part("route_config") { () throws(ResourceFault) in try RouteTable(config, patterns, isTrusted) }
      )
    case nil: throw ResourceFault("", "has neither rds nor route_config")
    }
    let common = manager.commonHTTPProtocolOptions
    guard common.hasMaxStreamDuration else { return }
    maxStreamDuration = try common.maxStreamDuration.limit("common_http_protocol_options.max_stream_duration")
  }

  private static func name(
    _ rds: Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_Rds
  ) throws(ResourceFault) -> String {
    try rds.configSource.check("config_source")
    return try rds.routeConfigName.name("route_config_name")
  }
}

extension Envoy_Config_Core_V3_ConfigSource {
  /// Throws unless the resource comes from where this one came from.
  func check(_ path: String) throws(ResourceFault) {
    switch configSourceSpecifier {
    case .ads, .self_p: return
    case nil: throw ResourceFault(path, "is neither ads nor self")
    }
  }
}

extension Google_Protobuf_Any {
  /// The message that must be in it.
  func contents<Contents: Message>(_ type: Contents.Type) throws(ResourceFault) -> Contents {
    do throws(DecodeError) {
      return try unpack(as: type)
    } catch { throw ResourceFault("", "\(error)".excerpt(300)) }
  }

  /// The type and the members of what is written as a structure; `nil` if it is a message.
  func typedStruct() throws(ResourceFault) -> (type: String, value: Google_Protobuf_Struct)? {
    let (url, value): (String, Google_Protobuf_Struct)
    if isA(Xds_Type_V3_TypedStruct.self) {
      let own = try contents(Xds_Type_V3_TypedStruct.self)
      (url, value) = (own.typeURL, own.value)
    } else if isA(Udpa_Type_V1_TypedStruct.self) {
      let own = try contents(Udpa_Type_V1_TypedStruct.self)
      (url, value) = (own.typeURL, own.value)
    } else {
      return nil
    }
    return (url.part(afterLast: "/").map { String($0) } ?? url, value)
  }
}

extension Google_Protobuf_Duration {
  /// The duration, which must not be below zero. Protobuf's longest has about 10,000 years.
  func length(_ path: String) throws(ResourceFault) -> Swift.Duration {
    guard isValid, seconds >= 0, nanos >= 0 else {
      throw ResourceFault(path, "is not a duration of zero or more")
    }
    return .seconds(seconds) + .nanoseconds(Int64(nanos))
  }

  /// A limit, of which zero is none.
  func limit(_ path: String) throws(ResourceFault) -> Swift.Duration? {
    let length = try length(path)
    return length == .zero ? nil : length
  }
}
