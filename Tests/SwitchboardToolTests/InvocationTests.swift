import TestSupport
import Testing

@testable import SwitchboardGenerateArguments

@Suite(.mayBlock) struct InvocationTests {
  private func generate(_ arguments: String...) throws(UsageError) -> GenerateArguments? {
    guard case .generate(let parsed) = try Invocation(arguments: arguments) else { return nil }
    return parsed
  }

  private func complaint(_ arguments: String...) -> String? {
    do {
      _ = try Invocation(arguments: arguments)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func readsEveryFlagInEverySpelling() throws {
    let spellings = [
      ["-I", "a", "-o", "out", "--option", "K=V", "x.proto"],
      ["-Ia", "-oout", "--option=K=V", "x.proto"],
      ["x.proto", "--include", "a", "--output", "out", "--option", "K=V"],
      ["--include=a", "--output=out", "--option=K=V", "--", "x.proto"],
    ]
    let expected = GenerateArguments(
      includeDirectories: ["a"],
      output: "out",
      options: ["K=V"],
      files: ["x.proto"]
    )
    for spelling in spellings {
      #expect(try Invocation(arguments: spelling) == .generate(expected))
    }
  }

  @Test func keepsTheOrderOfRepeatedFlags() throws {
    let parsed = try generate(
      "-I",
      "a",
      "x",
      "-I",
      "b",
      "y",
      "-o",
      "o",
      "--option",
      "A=1",
      "--option",
      "A=2=3"
    )
    #expect(parsed?.includeDirectories == ["a", "b"])
    #expect(parsed?.files == ["x", "y"])
    #expect(parsed?.options == ["A=1", "A=2=3"])
  }

  @Test func takesOperandsThatLookLikeFlagsAfterTwoDashes() throws {
    #expect(try generate("-o", "o", "--", "-I", "--")?.files == ["-I", "--"])
  }

  @Test func takesADescriptorSetInPlaceOfSources() throws {
    for flag in ["--descriptor-set", "--descriptor-set-in"] {
      #expect(try generate(flag, "set", "-o", "o")?.descriptorSet == "set")
      #expect(complaint(flag, "set", "-I", "a", "-o", "o")?.contains("-I") == true)
      #expect(
        complaint(flag, "set", "--configuration", "a", "-o", "o")?.contains("--conf") == true
      )
      #expect(complaint(flag, "set", flag, "set", "-o", "o") == "\(flag) is given twice")
    }
  }

  @Test func offersHelpAndVersion() throws {
    for arguments in [["--help"], ["-h"], ["-I", "a", "-h", "--wrong"]] {
      #expect(try Invocation(arguments: arguments) == .help)
    }
    #expect(try Invocation(arguments: ["--version"]) == .version)
  }

  @Test func saysWhatIsAccepted() {
    #expect(
      complaint("--plugin", "x")
        == "unknown flag '--plugin': expected "
        + "-I (--include), --output (-o), --option, --configuration, --expect, --descriptor-set or --help"
    )
    #expect(complaint("-x")?.hasPrefix("unknown flag '-x'") == true)
  }

  @Test(arguments: [
    "-I", "--include", "-o", "--output", "--option", "--configuration", "--expect", "--descriptor-set",
  ])
  func requiresAValue(flag: String) {
    #expect(complaint(flag)?.hasPrefix("\(flag) needs a ") == true)
    #expect(complaint(flag, "--help")?.hasPrefix("\(flag) needs a ") == true)
    #expect(complaint(flag, "")?.hasPrefix("\(flag) needs a ") == true)
    if flag.hasPrefix("--") {
      #expect(complaint(flag + "=", "x")?.hasPrefix("\(flag) needs a ") == true)
    }
  }

  @Test func anOptionAmongTheFilesIsExplained() {
    let explained =
      "'Visibility=Public' is no .proto file: write --option Visibility=Public, if it is an option"
    #expect(complaint("-o", "o", "a.proto", "Visibility=Public") == explained)
    #expect(complaint("-o", "o", "a=b.proto") == nil)
  }

  @Test func reportsMissingArguments() {
    #expect(complaint("a.proto") == "--output DIR is missing")
    #expect(complaint("-o", "o") == "no .proto files to generate for")
    #expect(complaint("-o", "o", "-o", "p", "a") == "-o is given twice")
    #expect(
      complaint("--configuration=a", "--configuration=b") == "--configuration is given twice"
    )
    #expect(
      complaint("-o", "o", "--option", "Key", "a") == "--option needs a Key=Value, not 'Key'"
    )
    #expect(complaint("-o", "o", "--option", "=V", "a") == "--option needs a Key=Value, not '=V'")
  }
}
