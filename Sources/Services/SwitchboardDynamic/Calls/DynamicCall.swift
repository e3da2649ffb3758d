import Switchboard

/// A call of a method of any kind, all of which are streams here.
package struct DynamicCall: Sendable {
  package let call: any AsyncCall
  /// The responses, of which there may be any number.
  package let responses: ResponseStream<DynamicPayload>
  /// Nil if the call takes a single request, which it already has.
  package let requests: RequestStreamWriter<DynamicPayload>?

  /// Starts the call. `single` is its request, if it takes one.
  package init(
    of method: DynamicMethod,
    on channel: Channel,
    options: CallOptions,
    single: DynamicPayload?
  ) {
    let call = MethodClient(channel: channel).call(method, callOptions: options)
    if let single {
      let started = call.makeServerStreamingCall(single, ofAnyType: true)
      (self.call, responses, requests) = (started, started.responseStream, nil)
    } else {
      let started = call.makeBidirectionalStreamingCall(ofAnyType: true)
      (self.call, responses, requests) = (started, started.responseStream, started.requestStream)
    }
  }
}
