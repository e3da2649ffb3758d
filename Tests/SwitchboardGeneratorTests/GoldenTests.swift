import Foundation
import SwitchboardGenerator
import Testing

/// Compares the output of the generator with the expected files.
///
/// `UPDATE_GOLDENS=1 swift test --filter GoldenTests` records the current output instead. The expected files are
/// modules of the package, so that building the tests compiles them.
@Suite("Goldens")
struct GoldenTests {
  @Test("The generator writes what is expected", arguments: GoldenCase.all)
  func comparison(golden: GoldenCase) throws {
    let files = try golden.generate()
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" { return try golden.record(files) }

    let expected = try golden.expected()
    #expect(files.map(\.name).sorted() == expected.map(\.name))
    for file in files {
      let content = expected.first { $0.name == file.name }?.content
      #expect(content == file.content, "\(golden.name)/\(file.name) differs")
    }
  }

  @Test("Every folder is a case")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: GoldenCase.folder.path)
    #expect(folders.sorted() == GoldenCase.all.map(\.name))
  }

  @Test("The same request gives the same files", arguments: GoldenCase.all)
  func repetition(golden: GoldenCase) throws {
    #expect(try golden.generate() == golden.generate())
  }
}
