package main

import (
	"os"
	"strings"
	"testing"
)

// TestNoOutputBeforeMain: no library logs during its initialization.
func TestNoOutputBeforeMain(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"--help"}, {"serve", "--help"}} {
		if s := run(t, args...); s.code != 0 || s.err != "" || !strings.Contains(s.out, "pingpost") {
			t.Errorf("%v: exit %d, %q, %q", args, s.code, s.out, s.err)
		}
	}
}

// A wrong command line gets one line with the mistake, and one that names the help.
func TestUsageErrors(t *testing.T) {
	for _, row := range []struct {
		args, want, help string
	}{
		{"sned leads.ndjson", `unexpected argument sned, did you mean "send"?`, "pingpost --help"},
		{"users ad", "unexpected argument ad; the commands of pingpost users are list, add, role, password, remove, invite", "pingpost users --help"},
		{"serve --foo", "unknown flag --foo", "pingpost serve --help"},
		{"send", "missing flags: --api-key=KEY", "pingpost send --help"},
		{"log verify", `expected "<dir>"`, "pingpost log verify --help"},
		{"restore --from a --data-dir b --generation x", "--generation: expected a valid 64 bit int but got \"x\"", "pingpost restore --help"},
	} {
		got := run(t, strings.Fields(row.args)...)
		want := "pingpost: " + row.want + "\nRun \"" + row.help + "\" to see how to use it.\n"
		if got.code != usageExitCode || got.out != "" || got.err != want {
			t.Errorf("%s: exit %d, printed %q, error\n%swant\n%s", row.args, got.code, got.out, got.err, want)
		}
	}
}

// Without arguments the program prints its commands by group.
func TestCommandsAreGrouped(t *testing.T) {
	text := mustRun(t)
	for _, command := range []string{"find", "dry-run", "audit", "alerts"} {
		if _, inspect, _ := strings.Cut(text, "\nInspect:\n"); !strings.Contains(inspect, "\n  "+command+" ") {
			t.Errorf("the group Inspect lacks %s", command)
		}
	}
	for _, group := range []string{"\nRun:\n  serve ", "\nTry:\n  demo ", "\nInspect:\n  explain ", "\nOperate:\n  diff "} {
		before, after, found := strings.Cut(text, group)
		if !found {
			t.Fatalf("no group %q, or not in its place: %s", group, before)
		}
		text = after
	}
}

// The completion code that each shell reads calls the program, which lists the possible next words.
func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{"bash": "complete -o default", "zsh": "bashcompinit", "fish": "complete -f -c pingpost"} {
		mustPrint(t, want, "completion", "-c", shell)
	}
	for typed, want := range map[string]string{
		"pingpost back": "backup", "pingpost log ver": "verify", "pingpost serve --acc": "--accept-clock",
		"pingpost aud": "audit", "pingpost ale": "alerts", "pingpost fin": "find", "pingpost dry": "dry-run",
		"pingpost audit --out": "--outcome", "pingpost alerts --hi": "--history", "pingpost find --aft": "--after", "pingpost dry-run --sup": "--supplier",
	} {
		cmd := programCommand(t)
		cmd.Env = append(cmd.Env, "COMP_LINE="+typed)
		if got := runCommand(t, cmd); strings.TrimSpace(got.out) != want {
			t.Errorf("%q is completed by %q, want %q", typed, got.out, want)
		}
	}
}

// asProgram in the environment makes the test binary the program itself.
const asProgram = "PINGPOST_TEST_AS_PROGRAM"

// TestMain runs the tests, or the program. The race detector waits a second at the end
// of each process; the tests start hundreds, so this is turned off.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if err := os.Setenv("GORACE", "halt_on_error=1 atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
