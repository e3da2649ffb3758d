// The status of a call whose deadline has passed says how long the call had, whose choice that was, and what it waited
// for. All of it is composed only then.

extension CallDeadline {
  /// The call's status. `source` is whose deadline it is; `clause` says what the call was doing: "while waiting for ...".
  package func exceeded(by clock: some CallTime, _ source: String, _ clause: String) -> GRPCStatus {
    let elapsed = timeout - timeLeft(by: clock)
    return GRPCStatus(
      code: .deadlineExceeded,
      message: "deadline of \(timeout.readable) (\(source)) exceeded after \(elapsed.readable), \(clause)",
      origin: .library
    )
  }

  /// The same on the client, whose call has chosen this timeout.
  func exceeded(by clock: some CallTime, chosen: Duration?, _ clause: String) -> GRPCStatus {
    let isOwn = chosen?.readable == timeout.readable
    let source =
      isOwn
      ? "CallOptions.timeout"
      : "inherited from a call being handled, or set by the service config or a control plane"
    return exceeded(by: clock, source, clause)
  }
}

extension CallRequest {
  /// The status of the call once its deadline has passed.
  package func deadlineExceeded(by clock: some CallTime, _ clause: String) -> GRPCStatus {
    deadline?.exceeded(by: clock, chosen: options?.timeout, clause)
      ?? GRPCStatus(code: .deadlineExceeded, message: "the deadline has passed, \(clause)", origin: .library)
  }
}

extension Duration {
  /// For messages: `2 s`, `1.25 s`, `250 ms`.
  package var readable: String {
    let (seconds, attoseconds) = components
    // Longer than any wait; and not the product of an overflow.
    guard seconds.magnitude < 1 << 40 else { return "\(seconds) s" }
    if seconds != 0 {
      return "\(Self.shown(thousandths: seconds * 1000 + attoseconds / 1_000_000_000_000_000)) s"
    }
    return "\(Self.shown(thousandths: attoseconds / 1_000_000_000_000)) ms"
  }

  private static func shown(thousandths: Int64) -> String {
    let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
    guard rest != 0 else { return "\(whole)" }
    var digits = "\(1000 + rest.magnitude)".dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
