/// How failed calls are made again, as gRFC A6 has it.
public struct RetryPolicy: Hashable, Sendable {
  /// More attempts than these are not made, whatever a policy says.
  package static let attemptLimit = 5

  /// How often the call is made, the first time included.
  public let maxAttempts: Int
  /// How long to wait before the second attempt, give or take a fifth.
  public let initialBackoff: Duration
  /// What the wait grows to.
  public let maxBackoff: Duration
  /// What the wait grows by with each attempt.
  public let backoffMultiplier: Double
  /// With which codes a failure is worth another attempt.
  public let retryableStatusCodes: Set<GRPCStatus.Code>

  /// Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow.
  public init(
    maxAttempts: Int,
    initialBackoff: Duration,
    maxBackoff: Duration,
    backoffMultiplier: Double,
    retryableStatusCodes: Set<GRPCStatus.Code>
  ) throws(GRPCStatus) {
    guard maxAttempts >= 2 else { throw .invalidServiceConfig("maxAttempts is \(maxAttempts), below 2") }
    guard initialBackoff > .zero else { throw .invalidServiceConfig("initialBackoff is not above 0") }
    guard maxBackoff > .zero else { throw .invalidServiceConfig("maxBackoff is not above 0") }
    guard backoffMultiplier > 0, backoffMultiplier.isFinite else {
      throw .invalidServiceConfig("backoffMultiplier is \(backoffMultiplier), not above 0")
    }
    guard !retryableStatusCodes.isEmpty else { throw .invalidServiceConfig("retryableStatusCodes is empty") }
    guard !retryableStatusCodes.contains(.ok) else {
      throw .invalidServiceConfig("retryableStatusCodes has OK")
    }
    self.maxAttempts = min(maxAttempts, Self.attemptLimit)
    self.initialBackoff = initialBackoff
    self.maxBackoff = maxBackoff
    self.backoffMultiplier = backoffMultiplier
    self.retryableStatusCodes = retryableStatusCodes
  }
}

/// How calls are made several times at once, as gRFC A6 has it: the first to be answered counts. For methods that
/// may run twice without harm.
public struct HedgingPolicy: Hashable, Sendable {
  /// How often the call is made at the most.
  public let maxAttempts: Int
  /// How long the latest attempt may go unanswered before the next is made. Zero makes all at once.
  public let hedgingDelay: Duration
  /// With which codes a failure does not end the other attempts.
  public let nonFatalStatusCodes: Set<GRPCStatus.Code>

  /// Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow.
  public init(
    maxAttempts: Int,
    hedgingDelay: Duration = .zero,
    nonFatalStatusCodes: Set<GRPCStatus.Code> = []
  ) throws(GRPCStatus) {
    guard maxAttempts >= 2 else { throw .invalidServiceConfig("maxAttempts is \(maxAttempts), below 2") }
    guard hedgingDelay >= .zero else { throw .invalidServiceConfig("hedgingDelay is below 0") }
    guard !nonFatalStatusCodes.contains(.ok) else {
      throw .invalidServiceConfig("nonFatalStatusCodes has OK")
    }
    self.maxAttempts = min(maxAttempts, RetryPolicy.attemptLimit)
    self.hedgingDelay = hedgingDelay
    self.nonFatalStatusCodes = nonFatalStatusCodes
  }
}

/// When a server fails so often that further attempts would only add to its load, as gRFC A6 has it: a bucket
/// loses one token with each failure and gains `tokenRatio` with each success, and no call is made again while it is
/// half empty or less.
public struct RetryThrottling: Hashable, Sendable {
  /// What the bucket holds at first, and at the most.
  public let maxTokens: Int
  /// What a success adds; counted in thousandths.
  public let tokenRatio: Double

  /// Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow.
  public init(maxTokens: Int, tokenRatio: Double) throws(GRPCStatus) {
    guard (1...1000).contains(maxTokens) else {
      throw .invalidServiceConfig("maxTokens is \(maxTokens), not from 1 to 1000")
    }
    guard tokenRatio >= 0.001, tokenRatio.isFinite else {
      throw .invalidServiceConfig("tokenRatio is \(tokenRatio), below 0.001")
    }
    self.maxTokens = maxTokens
    self.tokenRatio = tokenRatio
  }
}
