// text: a map that the message runtime has made

import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// The filters of a listener (gRFC A39). Known are the router, those that have calls fail, and one for sessions.
enum HTTPFilters {
  /// Of filters that have calls fail: each call passes all of them.
  private static let limit = 16

  /// The filters that have calls fail, and the one for sessions.
  static func known(
    _ filters: [Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpFilter]
  ) throws(ResourceFault) -> ([FaultFilter], SessionFilter?) {
    var faults: [FaultFilter] = []
    var session: SessionFilter?
    var names: Set<ExactText> = []
    var endsWithRouter = false
    for (position, filter) in filters.enumerated() {
      let path = "http_filters[\(position)]"
      guard !filter.name.isEmpty else { throw ResourceFault("\(path).name", "is empty") }
      guard names.insert(filter.name) else {
        throw ResourceFault("\(path).name", "is the name of another filter too: \(filter.name.excerpt)")
      }
      let config = try part("\(path).typed_config") { () throws(ResourceFault) in
        try FilterConfig(filter.typedConfig, isOverride: false)
      }
      if case .unknown(let type) = config {
        guard filter.isOptional else {
          throw ResourceFault(
            path,
            "the filter \(filter.name.excerpt) of type \(type.excerpt) is not supported"
          )
        }
        // It is as if it were not there.
        continue
      }
      guard !endsWithRouter else {
        throw ResourceFault(path, "the filter \(filter.name.excerpt) comes after the router")
      }
      switch config {
      // Without a rule, no call has a fault.
      case .fault(let rule):
        faults.append(
          FaultFilter(name: ExactText(filter.name), rule: filter.disabled ? FaultRule() : rule)
        )
      case .session(let rule):
        guard session == nil else { throw ResourceFault(path, "is a second one for sessions") }
        session = SessionFilter(name: ExactText(filter.name), rule: filter.disabled ? nil : rule)
      case .router, .ofServers, .unknown: endsWithRouter = true
      }
    }
    guard endsWithRouter else { throw ResourceFault("http_filters", "have no router at their end") }
    guard faults.count <= limit else {
      throw ResourceFault("http_filters", "have more than \(limit) that have calls fail")
    }
    return (faults, session)
  }

  /// The rules that some calls have instead of those of the listener, by the names of the filters.
  static func overrides(
    _ configs: [String: Google_Protobuf_Any]
  ) throws(ResourceFault) -> FilterOverrides {
    var overrides = FilterOverrides()
    for (name, config) in configs {
      try part("typed_per_filter_config[\(name.excerpt)]") { () throws(ResourceFault) in
        var (packed, isOptional, isDisabled) = (config, false, false)
        if config.isA(Envoy_Config_Route_V3_FilterConfig.self) {
          let wrapper = try config.contents(Envoy_Config_Route_V3_FilterConfig.self)
          guard wrapper.hasConfig else { throw ResourceFault("config", "is missing") }
          (packed, isOptional) = (wrapper.config, wrapper.isOptional)
          isDisabled = wrapper.disabled
        }
        switch try FilterConfig(packed, isOverride: true) {
        case .router: throw ResourceFault("", "a router has no other configuration for some calls")
        case .fault(let rule): overrides.faults[ExactText(name)] = isDisabled ? FaultRule() : rule
        case .session(let rule):
          overrides.sessions[ExactText(name)] = SessionOverride(rule: isDisabled ? nil : rule)
        // Clients and servers may have the same routes.
        case .ofServers: break
        case .unknown(let type):
          guard isOptional else { throw ResourceFault("", "the type \(type.excerpt) is not supported") }
        }
      }
    }
    return overrides
  }
}

/// What is said for some calls instead, by the names of the filters.
struct FilterOverrides: Hashable, Sendable {
  var faults: [ExactText: FaultRule] = [:]
  var sessions: [ExactText: SessionOverride] = [:]
}

private typealias Session = Envoy_Extensions_Filters_Http_StatefulSession_V3_StatefulSession
private typealias SessionPerRoute = Envoy_Extensions_Filters_Http_StatefulSession_V3_StatefulSessionPerRoute

/// The configuration of a filter.
private enum FilterConfig {
  case router
  case fault(FaultRule)
  case session(SessionRule?)
  /// For some calls, of a filter that only servers have: who may make them (gRFC A41).
  case ofServers
  case unknown(type: String)

  private static let routerType = "envoy.extensions.filters.http.router.v3.Router"
  private static let faultType = "envoy.extensions.filters.http.fault.v3.HTTPFault"
  private static let sessionType = "envoy.extensions.filters.http.stateful_session.v3.StatefulSession"
  private static let sessionOverrideType =
    "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute"
  private static let accessOverrideType = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute"

  init(_ packed: Google_Protobuf_Any, isOverride: Bool) throws(ResourceFault) {
    let own = try packed.typedStruct()
    let type = own?.type ?? packed.typeName ?? ""
    let known = [Self.routerType, Self.faultType, isOverride ? Self.sessionOverrideType : Self.sessionType]
    if isOverride, type.isExactly(Self.accessOverrideType) {
      self = .ofServers
      return
    }
    guard let found = known.firstIndex(where: type.isExactly) else {
      self = .unknown(type: type)
      return
    }
    guard own == nil else { throw ResourceFault("", "is a TypedStruct, and not of the type \(type)") }
    switch (found, isOverride) {
    case (0, _): self = .router
    case (1, _): self = .fault(try FaultRule(packed))
    case (_, false): self = .session(try SessionRule(try packed.contents(Session.self)))
    case (_, true): self = .session(try Self.override(try packed.contents(SessionPerRoute.self)))
    }
  }

  private static func override(_ message: SessionPerRoute) throws(ResourceFault) -> SessionRule? {
    switch message.override {
    case .statefulSession(let session):
      try part("stateful_session") { () throws(ResourceFault) in try SessionRule(session) }
    case .disabled, nil: nil
    }
  }
}
