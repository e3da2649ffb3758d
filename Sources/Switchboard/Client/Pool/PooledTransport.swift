import SwitchboardCall

/// A client's way to its host over the channels of a pool: each call goes on the one that its options ask for.
final class PooledTransport: ByteTransport {
  private let pool: ChannelPool
  private let target: String
  private let options: CallOptions
  private let loop: Loop
  /// The channel for the client's own options.
  private let usual = Locked<PooledChannel?>(nil)

  init(_ pool: ChannelPool, _ target: String, _ options: CallOptions, loop: Loop) {
    self.pool = pool
    self.target = target
    self.options = options
    self.loop = loop
  }

  var eventLoop: any EventLoop { loop }

  var host: String { target }

  /// The way to another host over channels of the same pool, chosen by the same options.
  func sibling(for host: String) -> any ByteTransport {
    host == target ? self : PooledTransport(pool, host, options, loop: loop)
  }

  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    let options = request.options ?? CallOptions()
    let isUsual = options.clearlySharesChannel(with: self.options)
    if isUsual, let call = usual.withLock({ $0 })?.makeCall(request, receiver) { return call }
    do {
      while true {
        let channel = try pool.channel(to: target, try ChannelArguments(options), on: loop)
        if isUsual { usual.withLock { $0 = channel } }
        // A channel that has closed just now is not the pool's any more.
        if let call = channel.makeCall(request, receiver) { return call }
      }
    } catch {
      return RefusedCall(request, loop, receiver, error)
    }
  }

  /// The pool's channels are not the client's to close: they close when nobody uses them.
  func retire() {}

  func shutDown(grace: Duration) async {}
}

extension Channel {
  /// The way to `host` that a client takes who does not want to see a channel: over the channels of a pool, chosen for
  /// each call by its options. Without a pool, over those that all such clients of the process share.
  ///
  /// It cannot fail: what is wrong with the host or the options is the status of each call.
  public convenience init(host: String, options: CallOptions = CallOptions(), pool: ChannelPool? = nil) {
    do throws(GRPCStatus) {
      let owner: ChannelPool
      if let pool { owner = pool } else { owner = try ChannelPool.ofProcess.get() }
      let settings = try ChannelArguments(options).channel
      self.init(
        PooledTransport(owner, host, options, loop: owner.loop(for: host)),
        serviceConfig: settings[\.serviceConfig],
        retryBufferSize: settings[\.retryBufferSize],
        enablesRetry: settings[\.enableRetry] ?? true
      )
    } catch {
      self.init(FailingTransport(error))
    }
  }
}
