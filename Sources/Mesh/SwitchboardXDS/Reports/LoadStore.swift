import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// The calls of all clusters that one control plane wants reports of, until they are reported.
final class LoadStore: Sendable {
  fileprivate struct Key: Hashable {
    let cluster: ExactText
    let service: ExactText
  }

  private struct Entry {
    let load: ClusterLoad
    /// When it was reported last.
    var since: ContinuousClock.Instant
    /// How many use it.
    var users = 0
  }

  private struct State {
    var clusters: [Key: Entry] = [:]
    /// How many there may be before those are forgotten that nobody uses.
    var room = LoadStore.usualRoom
  }

  /// What nobody uses waits for a report, if there is no more of it.
  fileprivate static let usualRoom = 1024

  private let names = NameBudget()
  private let state = Locked(State())

  /// The calls of a cluster, which are kept at least until `release`. `service` is the name of its endpoints, if that is another.
  func use(_ cluster: String, _ service: String, at now: ContinuousClock.Instant) -> ClusterLoad {
    let key = Key(cluster: ExactText(cluster), service: ExactText(service))
    return state.withLock { state in
      if state.clusters[key] == nil, state.clusters.count >= state.room {
        state.clusters = state.clusters.filter { $0.value.users > 0 }
        state.room = max(Self.usualRoom, 2 * state.clusters.count)
      }
      var entry = state.clusters[key] ?? Entry(load: ClusterLoad(key, names), since: now)
      entry.users += 1
      state.clusters[key] = entry
      return entry.load
    }
  }

  /// Returns whether no cluster is used any more.
  func release(_ load: ClusterLoad) -> Bool {
    state.withLock { state in
      state.clusters[load.key]?.users -= 1
      return state.clusters.values.allSatisfy { $0.users == 0 }
    }
  }

  /// What there is to report, which is forgotten then.
  func report(_ order: LoadOrder, at now: ContinuousClock.Instant) -> [Envoy_Config_Endpoint_V3_ClusterStats]
  {
    state.withLock { state in
      var reports: [Envoy_Config_Endpoint_V3_ClusterStats] = []
      for (key, entry) in state.clusters where order.includes(key.cluster) {
        state.clusters[key]?.since = now
        if var report = entry.load.report() {
          (report.clusterName, report.clusterServiceName) = (key.cluster.text, key.service.text)
          report.loadReportInterval = Google_Protobuf_Duration(entry.since.duration(to: now))
          reports.append(report)
        }
        // Calls that have not ended keep what counts them.
        if entry.users == 0, entry.load.isUnused { state.clusters[key] = nil }
      }
      return reports
    }
  }
}

/// The calls of a cluster: to each of its places, and those that were dropped.
final class ClusterLoad: Sendable {
  private struct State {
    var places: [Locality: PlaceLoad] = [:]
    var room = LoadStore.usualRoom
    /// By category.
    var drops: [ExactText: UInt64] = [:]
    var otherDrops: UInt64 = 0
  }

  /// Control planes may change the categories as often as they like.
  private static let categoryLimit = 1024

  fileprivate let key: LoadStore.Key
  private let names: NameBudget
  private let state = Locked(State())

  fileprivate init(_ key: LoadStore.Key, _ names: NameBudget) {
    self.key = key
    self.names = names
  }

  /// The calls to a place. The caller says when it does not need it any more (`unused`).
  func place(_ locality: Locality) -> PlaceLoad {
    state.withLock { state in
      if state.places[locality] == nil, state.places.count >= state.room {
        state.places = state.places.filter { !$0.value.isUnused }
        state.room = max(LoadStore.usualRoom, 2 * state.places.count)
      }
      let load = state.places[locality] ?? PlaceLoad(names)
      state.places[locality] = load
      load.used()
      return load
    }
  }

  /// A call is not made because the control plane wants it so; without a category, because there are too many.
  func dropped(_ category: String?) {
    state.withLock { state in
      let category = category.map { ExactText($0) }
      if let category, state.drops[category] != nil || state.drops.count < Self.categoryLimit {
        state.drops[category, default: 0] += 1
      } else {
        state.otherDrops += 1
      }
    }
  }

  fileprivate var isUnused: Bool { state.withLock { $0.places.isEmpty } }

  /// `nil` if nothing happened. Places that nobody uses are forgotten.
  fileprivate func report() -> Envoy_Config_Endpoint_V3_ClusterStats? {
    state.withLock { state in
      var message = Envoy_Config_Endpoint_V3_ClusterStats()
      for (locality, load) in state.places {
        // Before the counts are taken: nobody counts any more afterwards.
        if load.isUnused { state.places[locality] = nil }
        guard var place = load.report() else { continue }
        place.locality = locality.message
        message.upstreamLocalityStats.append(place)
      }
      message.totalDroppedRequests = state.drops.values.reduce(state.otherDrops, +)
      message.droppedRequests = state.drops.map { category, count in
        .with { ($0.category, $0.droppedCount) = (category.text, count) }
      }
      (state.drops, state.otherDrops) = ([:], 0)
      return message.upstreamLocalityStats.isEmpty && message.totalDroppedRequests == 0 ? nil : message
    }
  }
}

/// What a control plane wants reports of, and how often.
struct LoadOrder: Hashable, Sendable {
  private static let shortestInterval = Duration.seconds(1)
  private static let longestInterval = Duration.seconds(24 * 3600)

  /// `nil`: of all clusters.
  private let clusters: Set<ExactText>?
  let interval: Duration

  init(_ response: Envoy_Service_LoadStats_V3_LoadStatsResponse) {
    clusters = response.sendAllClusters ? nil : Set(response.clusters.map { ExactText($0) })
    let wanted = (try? response.loadReportingInterval.length("")) ?? .zero
    interval = min(max(wanted, Self.shortestInterval), Self.longestInterval)
  }

  func includes(_ cluster: ExactText) -> Bool { clusters?.contains(cluster) ?? true }
}

extension Locality {
  fileprivate var message: Envoy_Config_Core_V3_Locality {
    .with { ($0.region, $0.zone, $0.subZone) = (region.text, zone.text, subZone.text) }
  }
}
