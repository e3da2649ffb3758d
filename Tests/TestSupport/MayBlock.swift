import Testing

/// A test that waits in the old way for a socket or a process, and so runs on a thread of its own.
public struct MayBlock: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
  }

  /// Something that blocks, beside the test.
  public static func task<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Task<Value, Never> {
    Task(executorPreference: BlockingThreads.shared) { body() }
  }

  /// For what blocks to call first: a test that forgot the trait fails, rather than hang on a day when two of them meet.
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
