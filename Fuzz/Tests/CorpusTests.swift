import Foundation
import TestSupport
import Testing

/// Runs the fuzz targets without a fuzzer: on every input of the corpora, including each that once broke something, and
/// on mutations that are the same in every run. Some targets wait for a loop.
@Suite(.mayBlock) struct CorpusTests {
  private static let mutationsPerTarget = 400

  @Test(arguments: FuzzTarget.allCases) func noInputOfTheCorpusBreaksAnything(_ target: FuzzTarget) throws {
    for (name, bytes) in try Self.corpus(of: target) {
      #expect(throws: Never.self, "\(name)") { try target.run(bytes) }
    }
  }

  @Test(arguments: FuzzTarget.allCases) func norDoMutations(_ target: FuzzTarget) throws {
    let corpus = try Self.corpus(of: target)
    var mutator = Mutator(seed: 1)
    for round in 0..<Self.mutationsPerTarget {
      let (name, bytes) = corpus[round % corpus.count]
      let mutant = mutator.mutate(bytes, with: corpus[mutator.number(below: corpus.count)].bytes)
      #expect(throws: Never.self, "\(name), round \(round): \(mutant)") { try target.run(mutant) }
    }
  }

  private static func corpus(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Corpus/\(target)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try #require(!names.isEmpty)
    return try names.map { ($0, Array(try Data(contentsOf: folder.appending(path: $0)))) }
  }
}
