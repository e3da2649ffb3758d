/// How failed calls are repeated, as gRFC A6 describes.
///
/// ```swift
/// let policy = try RetryPolicy(
///   maxAttempts: 3, initialBackoff: .milliseconds(100), maxBackoff: .seconds(2),
///   backoffMultiplier: 2, retryableStatusCodes: [.unavailable]
/// )
/// ```
public struct RetryPolicy: Hashable, Sendable {
  /// The maximum number of attempts of any policy.
  package static let attemptLimit = 5

  /// The maximum number of attempts, including the first, as it was asked for.
  package let maxAttempts: Int
  /// The wait before the second attempt, plus or minus 20%.
  package let initialBackoff: Duration
  /// The longest wait.
  package let maxBackoff: Duration
  /// The factor by which the wait grows with each attempt.
  package let backoffMultiplier: Double
  /// The codes that lead to another attempt.
  package let retryableStatusCodes: Set<GRPCStatus.Code>

  /// The maximum number of attempts that are made.
  package var attempts: Int { min(maxAttempts, Self.attemptLimit) }

  /// Creates a policy. Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow. No more than five attempts are
  /// made; the channel logs that more are asked for.
  public init(
    maxAttempts: Int,
    initialBackoff: Duration,
    maxBackoff: Duration,
    backoffMultiplier: Double,
    retryableStatusCodes: Set<GRPCStatus.Code>
  ) throws(GRPCStatus) {
    guard maxAttempts >= 2 else { throw .invalidServiceConfig("maxAttempts", "is \(maxAttempts), below 2") }
    guard initialBackoff > .zero else {
      throw .invalidServiceConfig("initialBackoff", "is \(initialBackoff), not above 0")
    }
    guard maxBackoff > .zero else {
      throw .invalidServiceConfig("maxBackoff", "is \(maxBackoff), not above 0")
    }
    guard backoffMultiplier > 0, backoffMultiplier.isFinite else {
      throw .invalidServiceConfig("backoffMultiplier", "is \(backoffMultiplier), not above 0")
    }
    guard !retryableStatusCodes.isEmpty else {
      throw .invalidServiceConfig("retryableStatusCodes", "is empty")
    }
    guard !retryableStatusCodes.contains(.ok) else {
      throw .invalidServiceConfig("retryableStatusCodes", "contains OK")
    }
    self.maxAttempts = maxAttempts
    self.initialBackoff = initialBackoff
    self.maxBackoff = maxBackoff
    self.backoffMultiplier = backoffMultiplier
    self.retryableStatusCodes = retryableStatusCodes
  }
}

/// How a call is made several times in parallel, as gRFC A6 describes, until the first response. Use it for methods
/// that may run twice without harm.
///
/// ```swift
/// let policy = try HedgingPolicy(maxAttempts: 3, hedgingDelay: .milliseconds(50))
/// ```
public struct HedgingPolicy: Hashable, Sendable {
  /// The maximum number of attempts, including the first, as it was asked for.
  package let maxAttempts: Int
  /// How long the latest attempt may go unanswered before the next is made. Zero makes all of them at once.
  package let hedgingDelay: Duration
  /// The codes that do not end the other attempts.
  package let nonFatalStatusCodes: Set<GRPCStatus.Code>

  /// The maximum number of attempts that are made.
  package var attempts: Int { min(maxAttempts, RetryPolicy.attemptLimit) }

  /// Creates a policy. Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow. No more than five attempts are
  /// made; the channel logs that more are asked for.
  public init(
    maxAttempts: Int,
    hedgingDelay: Duration = .zero,
    nonFatalStatusCodes: Set<GRPCStatus.Code> = []
  ) throws(GRPCStatus) {
    guard maxAttempts >= 2 else { throw .invalidServiceConfig("maxAttempts", "is \(maxAttempts), below 2") }
    guard hedgingDelay >= .zero else {
      throw .invalidServiceConfig("hedgingDelay", "is \(hedgingDelay), below 0")
    }
    guard !nonFatalStatusCodes.contains(.ok) else {
      throw .invalidServiceConfig("nonFatalStatusCodes", "contains OK")
    }
    self.maxAttempts = maxAttempts
    self.hedgingDelay = hedgingDelay
    self.nonFatalStatusCodes = nonFatalStatusCodes
  }
}

/// Stops repeating calls while a server fails often, as gRFC A6 describes: a token bucket loses one token with each
/// failure and gains `tokenRatio` with each success, and no call is repeated while it is at most half full.
///
/// ```swift
/// let config = try ServiceConfig(retryThrottling: RetryThrottling(maxTokens: 10, tokenRatio: 0.1))
/// ```
public struct RetryThrottling: Hashable, Sendable {
  /// The capacity of the bucket, which is full at first.
  package let maxTokens: Int
  /// The tokens that a success adds, in steps of a thousandth.
  package let tokenRatio: Double

  /// Creates the settings. Throws `INVALID_ARGUMENT` for values that gRFC A6 does not allow.
  public init(maxTokens: Int, tokenRatio: Double) throws(GRPCStatus) {
    guard (1...1000).contains(maxTokens) else {
      throw .invalidServiceConfig("maxTokens", "is \(maxTokens), not from 1 to 1000")
    }
    guard tokenRatio >= 0.001, tokenRatio.isFinite else {
      throw .invalidServiceConfig("tokenRatio", "is \(tokenRatio), below 0.001")
    }
    self.maxTokens = maxTokens
    self.tokenRatio = tokenRatio
  }
}
