/// The subchannel that a policy gets after the channel was released, or after it was shut down itself.
final class EndedSubchannel: Subchannel {
  let state = SubchannelState(.shutdown)
  func connect() {}
  func update(_ addresses: [EndpointAddress]) {}
  func reportLoad(every interval: Duration?) {}
  func shutDown() {}
}
