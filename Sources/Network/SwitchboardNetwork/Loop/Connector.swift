/// Connects to the first of several addresses that answers, by RFC 8305: it alternates between the address families and
/// starts each attempt shortly after the one before, without waiting for that to fail.
package final class Connector {
  package typealias Connected = (socket: Socket, address: SocketAddress)
  package typealias Completion = (Result<Connected, SocketError>) -> Void

  /// The value that RFC 8305 recommends.
  static let attemptDelay = Duration.milliseconds(250)

  private let loop: Loop
  private let delay: Duration
  private var waiting: [SocketAddress]
  private var attempts: [ObjectIdentifier: ConnectAttempt] = [:]
  /// The remaining addresses after one has answered, in case that connection turns out to be useless.
  package private(set) var remaining: [SocketAddress] = []
  private var nextAttempt: LoopTimer?
  private var completion: Completion?
  private var lastError = SocketError.noAddress

  package init(
    _ addresses: [SocketAddress],
    on loop: Loop,
    delay: Duration = Connector.attemptDelay,
    _ completion: @escaping Completion
  ) {
    self.loop = loop
    self.delay = delay
    self.completion = completion
    waiting = Self.interleaved(addresses)
  }

  package func start() { tryNext() }

  package func cancel() {
    completion = nil
    stop()
  }

  /// Starts with the family of the first address, then alternates.
  static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let same = addresses.filter { $0.kind == first.kind }
    let other = addresses.filter { $0.kind != first.kind }
    var order: [SocketAddress] = []
    for index in 0..<max(same.count, other.count) {
      if index < same.count { order.append(same[index]) }
      if index < other.count { order.append(other[index]) }
    }
    return order
  }

  private func tryNext() {
    cancelTimer()
    guard completion != nil else { return }
    guard !waiting.isEmpty else {
      if attempts.isEmpty { finish(.failure(lastError)) }
      return
    }
    let address = waiting.removeFirst()
    var key: ObjectIdentifier?
    let attempt = ConnectAttempt(address, on: loop) { [self] result in
      if let key { attempts[key] = nil }
      switch result {
      case .success(let socket): finish(.success((socket, address)))
      case .failure(let error):
        lastError = error
        tryNext()
      }
    }
    key = ObjectIdentifier(attempt)
    attempts[ObjectIdentifier(attempt)] = attempt
    if !waiting.isEmpty { scheduleNext() }
  }

  private func scheduleNext() {
    let timer = LoopTimer { [self] in tryNext() }
    nextAttempt = timer
    loop.schedule(timer, after: delay)
  }

  private func finish(_ result: Result<Connected, SocketError>) {
    let completion = completion
    self.completion = nil
    stop()
    completion?(result)
  }

  private func stop() {
    cancelTimer()
    remaining = attempts.values.map(\.address) + waiting
    waiting = []
    for attempt in attempts.values { attempt.cancel() }
    attempts = [:]
  }

  private func cancelTimer() {
    if let nextAttempt { loop.cancel(nextAttempt) }
    nextAttempt = nil
  }
}

extension SocketError {
  package static let noAddress = SocketError(errno: 99)
}
