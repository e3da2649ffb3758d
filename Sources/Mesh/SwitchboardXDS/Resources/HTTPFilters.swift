// text: a map that the message runtime has made

import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// The filters of a listener (gRFC A39). Known are the router, and those that have calls fail.
enum HTTPFilters {
  /// Of filters that have calls fail: each call passes all of them.
  private static let limit = 16

  /// The filters that have calls fail.
  static func faults(
    _ filters: [Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpFilter]
  ) throws(ResourceFault) -> [FaultFilter] {
    var faults: [FaultFilter] = []
    var names: Set<ExactText> = []
    var endsWithRouter = false
    for (position, filter) in filters.enumerated() {
      let path = "http_filters[\(position)]"
      guard !filter.name.isEmpty else { throw ResourceFault("\(path).name", "is empty") }
      guard names.insert(filter.name) else {
        throw ResourceFault("\(path).name", "is the name of another filter too: \(filter.name.excerpt)")
      }
      let config = try part("\(path).typed_config") { () throws(ResourceFault) in
        try FilterConfig(filter.typedConfig)
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
      if case .fault(let rule) = config {
        // Without a rule, no call has a fault.
        faults.append(
          FaultFilter(name: ExactText(filter.name), rule: filter.disabled ? FaultRule() : rule)
        )
      } else {
        endsWithRouter = true
      }
    }
    guard endsWithRouter else { throw ResourceFault("http_filters", "have no router at their end") }
    guard faults.count <= limit else {
      throw ResourceFault("http_filters", "have more than \(limit) that have calls fail")
    }
    return faults
  }

  /// The rules that some calls have instead of those of the listener, by the names of the filters.
  static func overrides(
    _ configs: [String: Google_Protobuf_Any]
  ) throws(ResourceFault) -> [ExactText: FaultRule] {
    var faults: [ExactText: FaultRule] = [:]
    for (name, config) in configs {
      try part("typed_per_filter_config[\(name.excerpt)]") { () throws(ResourceFault) in
        var (packed, isOptional, isDisabled) = (config, false, false)
        if config.isA(Envoy_Config_Route_V3_FilterConfig.self) {
          let wrapper = try config.contents(Envoy_Config_Route_V3_FilterConfig.self)
          guard wrapper.hasConfig else { throw ResourceFault("config", "is missing") }
          (packed, isOptional) = (wrapper.config, wrapper.isOptional)
          isDisabled = wrapper.disabled
        }
        switch try FilterConfig(packed) {
        case .router: throw ResourceFault("", "a router has no other configuration for some calls")
        case .fault(let rule): faults[ExactText(name)] = isDisabled ? FaultRule() : rule
        case .unknown(let type):
          guard isOptional else { throw ResourceFault("", "the type \(type.excerpt) is not supported") }
        }
      }
    }
    return faults
  }
}

/// The configuration of a filter.
private enum FilterConfig {
  case router
  case fault(FaultRule)
  case unknown(type: String)

  private static let routerType = "envoy.extensions.filters.http.router.v3.Router"
  private static let faultType = "envoy.extensions.filters.http.fault.v3.HTTPFault"

  init(_ packed: Google_Protobuf_Any) throws(ResourceFault) {
    let own = try packed.typedStruct()
    let type = own?.type ?? packed.typeName ?? ""
    let isRouter = type.isExactly(Self.routerType)
    guard isRouter || type.isExactly(Self.faultType) else {
      self = .unknown(type: type)
      return
    }
    guard own == nil else { throw ResourceFault("", "is a TypedStruct, and not of the type \(type)") }
    self = isRouter ? .router : .fault(try FaultRule(packed))
  }
}
