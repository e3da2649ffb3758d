/// The flags of `load`.
enum LoadFlags {
  // MARK: What is sent

  static let data = Flag(
    "-d",
    "--data",
    value: "JSON",
    help:
      "The request: JSON, @FILE, or @- for standard input. A file may have several, which are sent in turn. "
      + "{{i}}, {{uuid}} and {{random 1 10}} differ from call to call."
  )
  static let messages = Flag(
    "--messages",
    value: "N",
    help: "How many requests a call with a stream of requests sends; the default is 1."
  )
  static let deadline = TargetFlags.deadline(help: "The deadline of each call; by default there is none.")
  static let seed = Flag(
    "--seed",
    value: "N",
    help: "The seed of random values: the same seed sends the same requests."
  )
  static let payload = FlagGroup(
    "Requests",
    [data, messages, deadline, CallVerb.compress, CallVerb.serviceConfig, seed]
  )

  // MARK: How much

  static let concurrency = Flag(
    "-c",
    "--concurrency",
    value: "N",
    help:
      "How many callers make one call after the other, 50 by default, and no more than --calls; with --rate, how many calls "
      + "may be in progress, 10000 by default."
  )
  static let rate = Flag(
    "-r",
    "--rate",
    value: "RATE",
    help:
      "Start this many calls per second, whether or not earlier ones have ended; 100..5000 rises from 100 to 5000. "
      + "Latency counts from when a call was due."
  )
  static let ramp = Flag(
    "--ramp",
    value: "TIME",
    help: "How long the rate rises; by default, the whole run."
  )
  static let duration = Flag(
    "-z",
    "--duration",
    value: "TIME",
    help: "How long to start calls; the default is 10s."
  )
  static let calls = Flag(
    "-n",
    "--calls",
    value: "N",
    help: "End after N calls, or when nothing happens for 20s."
  )
  static let warmUp = Flag(
    "--warm-up",
    value: "TIME",
    help: "First make calls for TIME that do not count; the default is 1s, and none with --calls."
  )
  static let connections = Flag(
    "--connections",
    value: "N",
    help: "Use N connections; the default is 2, or one for each agent."
  )
  static let loops = Flag(
    "--loops",
    value: "N",
    help: "Use N event loops, each with a thread; the default is 1."
  )
  static let amount = FlagGroup(
    "Load",
    [concurrency, rate, ramp, duration, calls, warmUp, connections, loops]
  )

  // MARK: What comes out

  static let output = Flag(
    "-o",
    "--output",
    value: "FORMAT",
    completion: .words(["text", "json", "csv", "html"]),
    help: "Write the report as text, json, csv or html; the default is text."
  )
  static let save = Flag(
    "--save",
    value: "FILE",
    repeats: true,
    completion: .file,
    help: "Also write the report to a file, in the format that its name ends in (.json, .csv, .html, .txt)."
  )
  static let compare = Flag(
    "--compare",
    value: "FILE",
    completion: .file,
    help:
      "Show what changed since an earlier run; FILE is its report in JSON. Both must be with --rate, or both without."
  )
  static let failIf = Flag(
    "--fail-if",
    value: "CONDITIONS",
    repeats: true,
    help:
      "Exit with 20 if one of them holds, such as 'p99>20ms,errors>0.1%'. There are p50 and other percentiles, mean, min, "
      + "max, rate, errors (a number of calls or, with %, a share of them) and calls."
  )
  static let findMax = Flag(
    "--find-max",
    value: "CONDITIONS",
    help:
      "Find the highest rate at which all of them hold, such as 'p99<10ms'. --rate is the first one to try."
  )
  static let step = Flag(
    "--step",
    value: "TIME",
    help: "How long --find-max tries each rate; the default is 5s."
  )
  static let live = Flag(
    "--live",
    value: "VIEW",
    completion: .words(["line", "screen", "none"]),
    help: "What to show on a terminal during the run: a line, a full screen with a histogram, or nothing."
  )
  static let report = FlagGroup("Report", [output, save, compare, failIf, findMax, step, live])

  // MARK: Agents

  static let agents = Flag(
    "--agents",
    value: "HOST:PORT,...",
    help:
      "Divide the calls among agents, which 'switchboard load-agent' starts: --rate, --concurrency, --connections and "
      + "--calls are those of all together. --loops is each agent's."
  )
  static let token = Flag(
    "--agent-token",
    value: "TOKEN|@FILE",
    help:
      "The agents' token, or @FILE for a file with it; by default, the environment variable SWITCHBOARD_AGENT_TOKEN. "
      + "Other users of this machine can see arguments."
  )
  static let agentRoots = Flag(
    "--agent-cacert",
    value: "FILE",
    completion: .file,
    help: "Connect to the agents with TLS, and trust the authorities in this PEM file."
  )
  static let agentGroup = FlagGroup("Agents", [agents, token, agentRoots])

  static let rules: [FlagRule] = [
    .need([step], findMax),
    .unused([duration, calls], beside: findMax, "tries each rate for the time of --step"),
    .unused([failIf], beside: findMax, "has the conditions, and fails if no rate passes"),
    .need([ramp], rate, as: "--rate FROM..TO"),
    .need([token, agentRoots], agents),
    .oneInput([TargetFlags.header, data, token]),
  ]
}

enum LoadFormat: String, CaseIterable {
  case text, json, csv, html
}

enum LoadView: String, CaseIterable {
  case line, screen, none
}
