import EchoService
import GRPC
import NIOCore

/// Adds a field to each call.
final class Stamp: ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>, @unchecked Sendable {
  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Echo_EchoRequest, Echo_EchoResponse>
  ) {
    guard case .metadata(var headers) = part else { return context.send(part, promise: promise) }
    headers.add(name: "stamp", value: "1")
    context.logger.debug("stamped", metadata: ["service": "\(Echo_EchoClientMetadata.serviceDescriptor.fullName)"])
    context.send(.metadata(headers), promise: promise)
  }
}

final class Stamps: Echo_EchoClientInterceptorFactoryProtocol {
  func makeGetInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [Stamp()] }
  func makeExpandInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [] }
  func makeCollectInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [] }
  func makeUpdateInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [Stamp()] }
}

/// Who a server takes a caller for.
enum Caller: UserInfo.Key {
  typealias Value = String
}
