extension [DiscoveryState.Action] {
  /// The same with few lines for the log: a response may change many resources at once, again and again.
  var withFewLogs: [DiscoveryState.Action] {
    let most = 8
    var count = 0
    let kept = filter { action in
      guard case .log = action else { return true }
      count += 1
      return count <= most
    }
    guard count > most else { return self }
    return kept + [.log(.warning, "and \(count - most) more that were deleted, or are there again")]
  }
}
