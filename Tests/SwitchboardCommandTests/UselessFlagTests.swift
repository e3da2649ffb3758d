import Foundation
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Flags that are right by themselves, and have no effect beside what else was asked for.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct UselessFlagTests {
  /// `SHOP` stands for a method of a server that is not there.
  @Test(arguments: [
    ("call SHOP --template -d {}", "--data has no effect: --template writes a request, and makes no call"),
    ("call SHOP --template --emit-defaults", "--emit-defaults has no effect"),
    ("call SHOP --template --compact", "--compact has no effect"),
    ("call SHOP --template --compress gzip", "--compress has no effect"),
    ("call SHOP --template --service-config {}", "--service-config has no effect"),
    ("call SHOP --template -v", "--verbose has no effect"),
    (
      "call SHOP --cacert x --insecure-skip-verify",
      "--cacert has no effect: --insecure-skip-verify trusts every"
    ),
    ("load SHOP --messages 3", "--messages has no effect: a call of shop.Shop/Buy has one request"),
    ("load SHOP --seed 3", "--seed has no effect: no request has {{uuid}} or {{random 1 10}}"),
    (#"load SHOP --seed 3 -d {"item":"{{i}}"}"#, "--seed has no effect"),
    ("load SHOP --step 1s", "--step needs --find-max"),
    ("load SHOP --ramp 1s", "--ramp needs --rate FROM..TO"),
    ("load SHOP --ramp 1s -r 5", "--ramp needs --rate FROM..TO"),
    ("load SHOP --agent-token x", "--agent-token needs --agents"),
    ("load SHOP --agent-cacert x", "--agent-cacert needs --agents"),
    (
      "load SHOP --find-max p99<1ms -z 1s",
      "--duration has no effect: --find-max tries each rate for the time of --step"
    ),
    ("load SHOP --find-max p99<1ms -n 1", "--calls has no effect"),
    (
      "load SHOP --find-max p99<1ms --fail-if p99>1ms",
      "--fail-if has no effect: --find-max has the conditions"
    ),
    ("load SHOP --find-max p99<1ms -r 1..2", "--find-max takes one --rate, the first to try, not '1..2'"),
    ("load SHOP --find-max p99>1ms", "and 'p99>1.00 ms' holds above it: write '<'"),
    (
      "load SHOP -r 1..9 -n 5", "--rate 1..9 with --calls needs --ramp or --duration: how long the rate rises"
    ),
    ("load SHOP -n 20 --fail-if errors>1,calls>20", "--fail-if has no effect: 'calls>20' never holds"),
    ("load SHOP --fail-if errors>200%", "--fail-if has no effect: 'errors>200"),
    ("load SHOP --save a.json --save b.csv --save a.json", "--save a.json is given twice"),
    ("call https://127.0.0.1:1 shop.Shop/Buy --plaintext", "--plaintext and https:// contradict each other"),
    ("list GRPCS://127.0.0.1:1 --plaintext", "--plaintext and grpcs:// contradict each other"),
    ("list http://127.0.0.1:1 --tls", "http:// and --tls contradict each other"),
    ("list http://127.0.0.1:1 --cacert x", "http:// and --cacert contradict each other"),
    ("load SHOP --connections 9 -c 3", "--connections 9 needs as many callers, and --concurrency is 3"),
    ("load SHOP --loops 4", "--loops 4 needs --connections 4 or more: each loop has one of its own"),
    (
      "load SHOP -c 10 -n 5",
      "--concurrency 10 is more than the calls, of which --calls allows 5: some callers would never make one"
    ),
    (
      "load SHOP -c 10 --connections 6 -n 5 -r 9",
      "--concurrency 10 is more than the calls, of which --calls allows 5: so many are never in progress"
    ),
    (
      "load SHOP --connections 6 -n 5",
      "--connections 6 is more than the calls, of which --calls allows 5: some connections would never make one"
    ),
    ("channelz 127.0.0.1:1 --interval 1s", "--interval needs --watch"),
    ("health 127.0.0.1:1 --watch -q", "--quiet has no effect: --watch is there to write each change"),
    ("call SHOP -H @- -d @-", "--header @- and --data @- both read standard input"),
    ("call SHOP -H @- -H a:b -H @-", "--header @- and --header @- both read standard input"),
    ("call SHOP -d @- --service-config @-", "--data @- and --service-config @- both read standard input"),
    ("load SHOP -d @- -H @-", "--header @- and --data @- both read standard input"),
    ("mock PROTO --only-rules", "--only-rules needs --rules FILE"),
    ("mock PROTO --output x", "--output needs --record TARGET"),
    ("mock PROTO --overwrite", "--overwrite needs --record TARGET"),
    ("mock PROTO --listen 127.0.0.1:0 --origin any --origin http://a", "--origin any lets all pages call"),
    ("mock PROTO -H a:b", "--header needs --record TARGET"),
    (
      "mock --record 127.0.0.1:1 --rules x",
      "--rules has no effect: --record forwards calls, and writes rules"
    ),
    (
      "mock --record 127.0.0.1:1 -q",
      "--quiet has no effect: --record forwards calls, and reports none of them"
    ),
  ]) func eachIsRefused(_ line: String, _ reason: String) throws {
    let proto = Run.protos + "/shop.proto"
    let words = line.split(separator: " ").flatMap { word -> [String] in
      switch word {
      case "SHOP": ["127.0.0.1:1", "shop.Shop/Buy", "--proto", proto]
      case "PROTO": [proto]
      default: [String(word)]
      }
    }
    let run = try Command.product("switchboard", words)
    #expect(run.exitCode == 64 && run.output.isEmpty)
    #expect(run.errors.contains(reason), "\(run.errors)")
  }

  /// Whatever asks for TLS contradicts the flag that forbids it, in every verb that calls a server.
  @Test func plaintextAndTLSContradictEachOther() throws {
    let values = [
      "--cacert": ["x"], "--cert": ["x"], "--key": ["x"], "--server-name": ["x"], "--tls": [],
      "--insecure-skip-verify": [],
    ]
    let ofTLS = TargetFlags.group.flags.filter { values.keys.contains($0.name) }
    #expect(ofTLS.count == values.count)
    for verb in SwitchboardCommand.verbs
    where verb.allFlags.contains(TargetFlags.plaintext) && !verb.isHidden {
      for flag in ofTLS {
        let operands = ["127.0.0.1:1", "shop.Shop/Buy"].prefix(verb.operands.count)
        let target = verb.name == "mock" ? ["--record", "127.0.0.1:1"] : Array(operands)
        let words = [verb.name] + target + ["--plaintext", flag.name]
        let run = try Command.product("switchboard", words + (values[flag.name] ?? []))
        #expect(
          run.exitCode == 64
            && run.errors == "switchboard: --plaintext and \(flag.name) contradict each other\n",
          "\(words): \(run.errors)"
        )
      }
    }
  }

  /// With a deadline, or without waiting, each of them ends something.
  @Test(arguments: [
    (["--wait-for-ready", "--connect-timeout", "1s", "-t", "1s"], false),
    (["--connect-timeout", "1s"], false),
    (["--wait-for-ready", "--connect-timeout", "1s", "--service-config", "{"], true),
  ]) func aWaitThatGoesOnIsWarnedOf(_ flags: [String], _ goesOn: Bool) throws {
    let words = ["call", "127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto"]
    let run = try Command.product("switchboard", words + flags)
    let warning = "warning: --wait-for-ready goes on after --connect-timeout: only --deadline ends the call\n"
    #expect(run.errors.contains(warning) == goesOn, "\(run.errors)")
  }

  /// With an effect, they are taken: these lines come to connect.
  @Test(arguments: [
    ["--messages", "3"], ["--seed", "3", "-d", #"{"count": {{random 1 10}}}"#],
    ["-r", "1..9", "-n", "5", "--ramp", "1s"],
    ["-n", "3", "-c", "3", "--connections", "3"], ["-n", "1"], ["-n", "3", "-r", "9"],
    ["--loops", "2"], ["--connections", "3", "-c", "3"], ["--find-max", "p99<1ms", "-r", "5"],
  ]) func withAnEffectTheyAreTaken(_ flags: [String]) throws {
    let method = flags[0] == "--messages" ? "shop.Shop/BuyAll" : "shop.Shop/Buy"
    let run = try Command.product(
      "switchboard",
      ["load", "127.0.0.1:1", method, "--proto", Run.protos + "/shop.proto"] + flags
    )
    #expect(run.exitCode == 14, "\(run.errors)")
  }
}
