// unsafe: strings lent to C for one call, results copied and freed

import CProtoc

/// The result of ``runCompiler(_:files:parameter:)``.
struct CompilerOutcome {
  var request: [UInt8]?
  var errors: [String]
  var warnings: [String]
}

/// Calls the C function and copies its result into Swift's memory.
func runCompiler(_ compiler: ProtoCompiler, files: [String], parameter: String?) -> CompilerOutcome {
  withCStrings(compiler.includeDirectories) { directories in
    withCStrings(files) { files in
      withOptionalCString(parameter) { parameter in
        var input = cprotoc_input(
          include_directories: directories.baseAddress,
          include_directory_count: directories.count,
          files: files.baseAddress,
          file_count: files.count,
          parameter: parameter,
          comments_only: compiler.keepsOnlyComments,
          worker_count: compiler.workers.map { max($0, 1) } ?? 0
        )
        var result = cprotoc_result()
        // The enclosing closures keep alive everything that `input` points to; `result` owns its memory until it is
        // freed, after the copy.
        cprotoc_compile(&input, &result)
        defer { cprotoc_result_free(&result) }
        return CompilerOutcome(copying: result)
      }
    }
  }
}

extension CompilerOutcome {
  fileprivate init(copying result: cprotoc_result) {
    // Each pointer comes with a count, and is null only if the count is zero.
    request = result.request.map { Array(UnsafeBufferPointer(start: $0, count: result.request_size)) }
    errors = copyTexts(result.errors, count: result.error_count)
    warnings = copyTexts(result.warnings, count: result.warning_count)
    if request == nil && errors.isEmpty { errors = ["switchboard: out of memory"] }
  }
}

private func copyTexts(_ texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int) -> [String] {
  UnsafeBufferPointer(start: texts, count: count).compactMap { text in text.map { String(cString: $0) } }
}

/// Calls `body` with `strings` as C strings, which are valid until it returns.
private func withCStrings<R>(
  _ strings: [String],
  _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> R
) -> R {
  // One block for all strings, each NUL-terminated, to avoid nested closures.
  var bytes: [CChar] = []
  var offsets: [Int] = []
  for string in strings {
    offsets.append(bytes.count)
    bytes.append(contentsOf: string.utf8CString)
  }
  return bytes.withUnsafeBufferPointer { block in
    let pointers = offsets.map { offset in block.baseAddress.map { $0 + offset } }
    return pointers.withUnsafeBufferPointer(body)
  }
}

private func withOptionalCString<R>(_ string: String?, _ body: (UnsafePointer<CChar>?) -> R) -> R {
  guard let string else { return body(nil) }
  return string.withCString(body)
}
