import Switchboard
import SwitchboardServices

/// What the program serves, and with which options.
struct Backend {
  let health = HealthService()
  let providers: [any CallHandlerProvider]
  var options = ServerOptions()

  /// Couriers need this key.
  init(courierKey: String) throws {
    let depot = Depot()
    let keyGuard = KeyGuard(key: courierKey)
    let described: [any CallHandlerProvider] = [
      OrderDesk(depot: depot),
      Tracker(depot: depot, keyGuard: keyGuard),
      Labels.handlers(depot, keyGuard),
      health,
    ]
    providers = described + [try ReflectionService(describing: described)]
    options.requiredInterceptors = RequiredInterceptors(
      [KeyGuard.self],
      except: [
        "parcels.Orders", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ]
    )
  }

  /// Says that the services take calls. When the server shuts down, health says that they take no more.
  func becomeReady() {
    health.set(.serving, for: Parcels_OrdersMetadata.service.name)
    health.set(.serving, for: Parcels_TrackingMetadata.service.name)
    health.set(.serving, for: Labels.service.name)
  }
}
