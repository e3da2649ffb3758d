import SwitchboardBalancing
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Reads the resources of a response. It is pure: what is read again is the same.
struct ResourceReader: Sendable {
  /// A resource of a response, or why it is refused.
  struct Read: Sendable {
    /// `nil` if the resource is so broken that its name is not known.
    let name: String?
    let result: Result<Resource, ResourceFault>
    /// The resource as it came, without a wrapper.
    var contents = Google_Protobuf_Any()
  }

  /// A response with more resources is not read. No channel uses so many.
  static let countLimit = 131_072

  /// The control plane whose responses are read.
  var server: ServerID = 0

  /// The policies that clusters may have.
  let policies: PolicyRegistry

  /// The names of certificate providers of the bootstrap.
  let certificateProviders: Set<ExactText>

  /// Whether the resources are those of a control plane that may say which authority calls have (gRFC A81).
  var isTrusted = false

  init(policies: PolicyRegistry = PolicyRegistry(), certificateProviders: Set<ExactText> = []) {
    self.policies = policies
    self.certificateProviders = certificateProviders
  }

  /// A name that occurs twice, in any spelling, makes both refused.
  func read(_ resources: [Google_Protobuf_Any], of type: ResourceType) -> [Read] {
    let patterns = PatternReader()
    let all = resources.map { read($0, type, patterns) }
    let keys = all.map { one in one.name.map { ResourceKey(type, $0) } }
    var counts: [ResourceKey: Int] = [:]
    for case let key? in keys { counts[key, default: 0] += 1 }
    guard counts.values.contains(where: { $0 > 1 }) else { return all }
    return zip(all, keys).map { one, key in
      guard let key, counts[key, default: 0] > 1 else { return one }
      let fault = ResourceFault("", "its name occurs twice in the response")
      return Read(name: one.name, result: .failure(fault))
    }
  }

  /// What a response says in place of resources, or why that is refused.
  func read(
    _ errors: [Envoy_Service_Discovery_V3_ResourceError]
  ) -> [Result<ResourceError, ResourceFault>] {
    errors.map { error in
      do throws(ResourceFault) { return .success(try ResourceError(error)) } catch { return .failure(error) }
    }
  }

  private func read(_ packed: Google_Protobuf_Any, _ type: ResourceType, _ patterns: PatternReader) -> Read {
    var packed = packed
    var wrapped: String?
    if packed.isA(Envoy_Service_Discovery_V3_Resource.self) {
      guard let wrapper = try? packed.unpack(as: Envoy_Service_Discovery_V3_Resource.self) else {
        return Read(
          name: nil,
          result: .failure(ResourceFault("", "a wrapper of a resource cannot be decoded"))
        )
      }
      packed = wrapper.resource
      wrapped = wrapper.name.isEmpty ? nil : wrapper.name
    }
    var read = read(packed, named: wrapped, type, patterns)
    read.contents = packed
    return read
  }

  private func read(
    _ packed: Google_Protobuf_Any,
    named wrapped: String?,
    _ type: ResourceType,
    _ patterns: PatternReader
  ) -> Read {
    do throws(ResourceFault) {
      switch type {
      case .listener:
        let message = try packed.contents(Envoy_Config_Listener_V3_Listener.self)
        return named(message.name, wrapped) { () throws(ResourceFault) in
          .listener(try ListenerResource(message, patterns, isTrusted))
        }
      case .routes:
        let message = try packed.contents(Envoy_Config_Route_V3_RouteConfiguration.self)
        return named(message.name, wrapped) { () throws(ResourceFault) in
          .routes(try RouteTable(message, patterns, isTrusted))
        }
      case .cluster:
        let message = try packed.contents(Envoy_Config_Cluster_V3_Cluster.self)
        return named(message.name, wrapped) { () throws(ResourceFault) in
          .cluster(
            try ClusterResource(
              message,
              of: server,
              isTrusted: isTrusted,
              policies,
              certificateProviders,
              patterns
            )
          )
        }
      case .endpoints:
        let message = try packed.contents(Envoy_Config_Endpoint_V3_ClusterLoadAssignment.self)
        return named(message.clusterName, wrapped) { () throws(ResourceFault) in
          .endpoints(try EndpointsResource(message, isTrusted: isTrusted))
        }
      }
    } catch { return Read(name: wrapped, result: .failure(error)) }
  }

  private func named(
    _ name: String,
    _ wrapped: String?,
    _ read: () throws(ResourceFault) -> Resource
  ) -> Read {
    do throws(ResourceFault) {
      _ = try name.name("name")
    } catch { return Read(name: wrapped, result: .failure(error)) }
    do throws(ResourceFault) {
      return Read(name: wrapped ?? name, result: .success(try read()))
    } catch { return Read(name: wrapped ?? name, result: .failure(error)) }
  }
}
