import Testing

/// A test that blocks on a socket or a process, and therefore runs on its own thread.
public struct MayBlock: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
  }

  /// An operation that may block, of a process that a test has started.
  public static func run(_ body: @Sendable () async throws -> Void) async rethrows {
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await body() }
  }

  /// A blocking operation that runs concurrently with the test.
  public static func task<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Task<Value, Never> {
    Task(executorPreference: BlockingThreads.shared) { body() }
  }

  /// Blocking code calls this first: a test without the trait then fails instead of hanging occasionally.
  public static func check() {
    let isInTask = withUnsafeCurrentTask { $0 != nil }
    guard isInTask, !BlockingThreads.isOne else { return }
    Issue.record(
      "this blocks one of Swift's own threads: give the suite the trait .mayBlock, or use MayBlock.task"
    )
  }
}

extension Trait where Self == MayBlock {
  public static var mayBlock: MayBlock { MayBlock() }
}
