import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

extension Telemetry {
  /// The request of a call of `a.B/C` on a channel to `dns:///a.example`, which is followed and never sent.
  func followedRequest(on group: LoopGroup) throws -> CallRequest {
    let observer = try #require(observer() as? CallTelemetry)
    let channel = observer.channelTracer(target: "dns:///a.example", on: group.nextLoop())
    let method = MethodDescriptor(service: "a.B", method: "C", type: .unary)
    var request = CallRequest(method: method, options: nil, body: .message(MessageBuffer([])))
    channel.callMade(&request)
    return request
  }
}
