import SwitchboardCall
import SwitchboardTransport

// What tests wait for, as channelz shows it.

extension Server {
  /// Returns once every call that it got has ended.
  package func untilNoCallIsOpen() async {
    while !Task.isCancelled {
      let calls = await snapshot().calls
      if calls.started == calls.succeeded + calls.failed { return }
      await Task.yield()
    }
  }
}

extension Channel {
  /// Returns once a condition holds. A channel without connections of its own has no snapshot, and waits in vain.
  package func until(_ condition: (ChannelSnapshot) -> Bool) async {
    while !Task.isCancelled {
      if let snapshot = await snapshot(), condition(snapshot) { return }
      await Task.yield()
    }
  }

  /// How many calls are on a connection; `nil` for a channel without connections of its own.
  package var openStreams: Int? {
    get async {
      guard let snapshot = await snapshot() else { return nil }
      var open = 0
      for connection in snapshot.subchannels.flatMap(\.connections) {
        guard let found = await connectionSnapshot(connection.number) else { continue }
        open += found.streamsStarted - found.streamsSucceeded - found.streamsFailed
      }
      return open
    }
  }
}
