import Foundation
import Testing

/// The fuzz targets without a fuzzer: every input of the corpora, among them each that once broke something, and
/// mutations of them that are the same in every run.
@Suite struct CorpusTests {
  private typealias Input = (name: String, bytes: [UInt8])

  private static let mutationsPerTarget = 400

  @Test(arguments: FuzzTarget.allCases) func noInputOfTheCorpusBreaksAnything(_ target: FuzzTarget)
    async throws
  {
    let broken = await Self.broken(try Self.corpus(of: target), target)
    #expect(broken == [])
  }

  @Test(arguments: FuzzTarget.allCases) func norDoMutations(_ target: FuzzTarget) async throws {
    let corpus = try Self.corpus(of: target)
    var mutator = Mutator(seed: 1)
    let mutants = (0..<Self.mutationsPerTarget).map { round in
      let (name, bytes) = corpus[round % corpus.count]
      let mutant = mutator.mutate(bytes, with: corpus[mutator.number(below: corpus.count)].bytes)
      return (name: "\(name), round \(round), \(mutant)", bytes: mutant)
    }
    let broken = await Self.broken(mutants, target)
    #expect(broken == [])
  }

  private static func corpus(of target: FuzzTarget) throws -> [Input] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Corpus/\(target)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try #require(!names.isEmpty)
    return try names.map { ($0, Array(try Data(contentsOf: folder.appending(path: $0)))) }
  }

  /// What inputs break, each with its name. Some wait for a loop, so a thread of their own does it.
  private static func broken(_ inputs: [Input], _ target: FuzzTarget) async -> [String] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var broken: [String] = []
        for (name, bytes) in inputs {
          do { try target.run(bytes) } catch { broken.append("\(name): \(error)") }
        }
        continuation.resume(returning: broken)
      }
    }
  }
}
