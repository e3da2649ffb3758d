import SwitchboardGenerateArguments
import SwitchboardGenerator
import SwitchboardProtoCompiler
import SwitchboardToolSupport

extension GenerateArguments {
  /// The options as the single string that a request has for them.
  var parameter: String { OptionList.parameter(allOptions) }

  /// Knows which files could be imported: a descriptor set has no others than those that it contains.
  var hasFile: (String) -> Bool {
    guard descriptorSet == nil else { return { _ in false } }
    let directories = IncludeDirectories.all(user: includeDirectories)
    return { IncludeDirectories.hasImport($0, in: directories) }
  }

  /// Where the file with this name in imports is; `nil` if it came with a descriptor set.
  func pathOfImport(_ name: String) -> String? {
    guard descriptorSet == nil else { return nil }
    return IncludeDirectories.path(
      ofImport: name,
      in: IncludeDirectories.all(user: includeDirectories)
    )
  }

  /// Warnings of files that are not used, because an earlier directory has another one of the same name.
  func shadowedImports(of files: [FileDescriptor]) -> [String] {
    guard descriptorSet == nil, includeDirectories.count > 1 else { return [] }
    return files.flatMap { file -> [String] in
      let paths = IncludeDirectories.paths(ofImport: file.name, in: includeDirectories)
      guard let first = paths.first, paths.count > 1, let content = try? readFile(first) else { return [] }
      return paths.dropFirst().filter { (try? readFile($0)) != content }.map {
        "\($0): warning: It is not used: \"\(file.name)\" is \(first), in an earlier one of the include directories (-I, or "
          + "'includes')."
      }
    }
  }

  /// The request for the generator: the files, compiled or from a descriptor set, and the options.
  func request(
    with workers: Workers
  ) async throws(CommandFailure) -> GeneratorRequest {
    if let descriptorSet { return try await request(fromSet: descriptorSet, with: workers) }
    let compiled = try compile(with: workers)
    do throws(GeneratorError) {
      return try await GeneratorRequest(compiled, with: workers)
    } catch {
      throw CommandFailure("the compiler's request: \(error)", exitCode: .failed)
    }
  }

  private func compile(with workers: Workers) throws(CommandFailure) -> [UInt8] {
    for directory in includeDirectories where !IncludeDirectories.exists(directory) {
      complain("\(directory): warning: No such directory, but -I or 'includes' names it.")
    }
    var compiler = ProtoCompiler(includeDirectories: IncludeDirectories.all(user: includeDirectories))
    compiler.keepsOnlyComments = true
    compiler.workers = workers.count
    do {
      let compiled = try compiler.compile(files, parameter: parameter)
      compiled.warnings.forEach(complain)
      return compiled.request
    } catch {
      throw CommandFailure(lines: error.warnings + error.errors + hint(on: error.errors), exitCode: .failed)
    }
  }

  /// A hint for the author of a `switchboard.json` about a file that was not found.
  private func hint(on errors: [String]) -> [String] {
    guard let configuration, errors.contains(where: { $0.contains("File not found in any include") }) else {
      return []
    }
    return [
      "\(configuration): note: Imports are relative to 'includes'. Files of another target are found if this target "
        + "depends on it and it has a switchboard.json."
    ]
  }

  private func request(
    fromSet path: String,
    with workers: Workers
  ) async throws(CommandFailure) -> GeneratorRequest {
    let bytes = try CommandFailure.catching(.failed) { () throws(SystemError) in try readFile(path) }
    var request = try await descriptorSet(bytes, from: path, with: workers)
    let names = request.files.map(\.name)
    let known = Set(names)
    let missing = files.filter { !known.contains($0) }
    guard missing.isEmpty else {
      throw CommandFailure(lines: missing.map { "\($0): File not found in \(path)." }, exitCode: .failed)
    }
    let wanted = files.isEmpty ? names.filter { !Generator.comesWithPackage($0) } : files
    guard !wanted.isEmpty else {
      throw CommandFailure("\(path): it contains only the well-known types", exitCode: .failed)
    }
    request.filesToGenerate = wanted
    request.parameter = parameter
    return request
  }

  private func descriptorSet(
    _ bytes: [UInt8],
    from path: String,
    with workers: Workers
  ) async throws(CommandFailure) -> GeneratorRequest {
    let request: GeneratorRequest
    do throws(GeneratorError) {
      request = try await GeneratorRequest(descriptorSet: bytes, with: workers)
    } catch {
      throw CommandFailure("\(path): not a serialized FileDescriptorSet: \(error)", exitCode: .failed)
    }
    guard !request.files.isEmpty, request.files.allSatisfy({ !$0.name.isEmpty }) else {
      throw CommandFailure(
        "\(path): not a serialized FileDescriptorSet: it contains no files",
        exitCode: .failed
      )
    }
    let names = Set(request.files.map(\.name))
    let missing = request.files.flatMap { file in
      file.dependency.filter { !names.contains($0) }.map {
        "\(file.name): The import \($0) is not in \(path)."
      }
    }
    guard missing.isEmpty else {
      let hint = "\(path): note: protoc includes imports with --include_imports."
      throw CommandFailure(lines: missing + [hint], exitCode: .failed)
    }
    return request
  }
}
