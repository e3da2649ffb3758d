import SwitchboardCall

extension Telemetry {
  /// Whether calls are traced and their spans exported, so that a share of them means something.
  package var recordsSpans: Bool { parts.tracer?.rule.isEnabled ?? false }

  /// The methods whose share of traces was changed, for now.
  package var pulledSampling: [PulledLever] { parts.levers.pulled }

  /// Records this share of the traces of a method's calls, whatever their callers have decided, for some time; then the sampler
  /// of the options decides again, as it does at once for `nil`. Returns `false` if that holds for too many methods already.
  package func setSampling(ofPath path: String, to share: Double?, for time: Duration) -> Bool {
    parts.levers.pull(path, to: share, for: time)
  }
}
