extension ServerConnection: HTTP1ServerConnection {
  func openStream() -> ServerCallStream {
    didOpen()
    counters.streamStarted(at: loop.turnTime)
    return ServerCallStream(self, isRefused: false, carriesGRPC: false)
  }

  func forgetKnownCall() { knownCall = nil }
}

extension ServerCallStream: HTTP1ServerStream {}
