import Switchboard
import SwitchboardDynamic
import SwitchboardText
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Whoever reads "did you mean" has typed something else.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SuggestionTests {
  /// What is typed in place of a name: near misses, and the name itself.
  private static func misspellings(of name: String) -> [String] {
    let letters = Array(name)
    var words = [name, name.uppercased(), name.lowercased(), name + "s", name + ".", "x" + name]
    for index in Set([0, letters.count / 2, letters.count - 1]) {
      words.append(String(letters[..<index] + letters[(index + 1)...]))
      words.append(String(letters[...index] + letters[index...]))
    }
    return words
  }

  /// The names that hints suggest.
  private static func suggestions(_ failure: Failure) -> [String] {
    failure.hints.map(\.text).filter { $0.hasPrefix("Did you mean ") }.flatMap { hint in
      hint.dropFirst("Did you mean ".count).dropLast().split(separator: " ").map { word in
        String(word.filter { !"'\"".contains($0) })
      }.filter { $0 != "or" }
    }
  }

  @Test func noFlagIsSuggestedForItself() {
    var asked = 0
    for verb in SwitchboardCommand.verbs {
      guard case .parsed = verb.action else { continue }
      let names = Set(verb.allFlags.flatMap(\.names))
      // The flags of all verbs are typed for each.
      for flag in Set(SwitchboardCommand.verbs.flatMap(\.allFlags).flatMap(\.names)) {
        for typed in Self.misspellings(of: flag) + [String(flag.dropFirst()), flag + "=1"]
        where typed.hasPrefix("-") && typed != "-" && typed != "--" {
          do { _ = try Arguments([typed], for: verb) } catch {
            let word = String(typed.prefix { $0 != "=" })
            for suggestion in Self.suggestions(error) {
              asked += 1
              #expect(
                suggestion != word && names.contains(suggestion),
                "\(verb.name) \(typed): \(suggestion)"
              )
            }
          }
        }
      }
    }
    #expect(asked > 100)
  }

  @Test func noVerbIsSuggestedForItself() {
    var asked = 0
    for name in SwitchboardCommand.verbs.map(\.name) {
      for typed in Self.misspellings(of: name) {
        do { _ = try SwitchboardCommand.verbs.named(typed) } catch {
          for suggestion in Self.suggestions(error) {
            asked += 1
            #expect(suggestion != typed, "\(typed)")
          }
        }
      }
    }
    #expect(asked > 100)
  }

  @Test func noMethodIsSuggestedForItself() async throws {
    let schema = try Schema(try SchemaFiles.compile([Run.protos + "/shop.proto"], includes: []))
    var asked = 0
    for service in schema.services {
      for method in service.methods.map(\.path) {
        for typed in Self.misspellings(of: method) + Self.misspellings(of: service.fullName) {
          do { _ = try await CallVerb.find(typed, in: .files(schema)) } catch let failure as Failure {
            let parts = SchemaMethod.parts(of: typed)
            for suggestion in Self.suggestions(failure) {
              asked += 1
              #expect(suggestion != typed && suggestion != parts?.method, "\(typed): \(suggestion)")
            }
          }
        }
      }
    }
    #expect(asked > 20)
  }

  /// Of a name that is there, another one is suggested, whoever asks.
  @Test func noNameIsNearItself() {
    let names =
      SwitchboardCommand.verbs.flatMap(\.allFlags).flatMap(\.names) + ["shop.Shop", "shop.Shop.Buy"]
    for name in names { #expect(!NearNames(of: name, in: names).names.contains(name), "\(name)") }
  }
}
