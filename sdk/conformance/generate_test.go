package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// Tests sdk/generate with a fake generator: the files that it keeps, reports as stale, and
// rejects.
func TestGenerateModels(t *testing.T) {
	script := must.Value(os.ReadFile(filepath.Join("..", "generate")))(t)
	root := t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(root, path)
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Succeed(t, os.WriteFile(path, []byte(text), mode))
	}
	run := func(says string, good bool, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(root, "sdk/generate")}, args...)...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "path")+":"+os.Getenv("PATH"), "MAVEN_CENTRAL=http://127.0.0.1:1")
		out, err := cmd.CombinedOutput()
		if (err == nil) != good || !strings.Contains(string(out), says) {
			t.Errorf("%v: %v, want %q:\n%s", args, err, says, out)
		}
	}
	write("sdk/generate", string(script), 0o700)
	write("sdk/x/generator.yaml", "x-from: src/models # the rest is dropped\nx-into: made\n", 0o600)
	write("path/java", "#!/bin/sh\n"+
		`while [ $# -gt 0 ]; do [ "$1" != --output ] || out=$2; shift; done; mkdir -p "$out/src/models" && echo model >"$out/src/models/a" && echo other >"$out/b"`+"\n", 0o700)

	write("path/curl", "#!/bin/sh\n"+`while [ $# -gt 0 ]; do [ "$1" != --output ] || echo forged >"$2"; shift; done`+"\n", 0o700)
	run("has a wrong sha256", false, "x")
	if _, err := os.Stat(filepath.Join(root, "bin/tools")); err == nil {
		if found, _ := filepath.Glob(filepath.Join(root, "bin/tools/*.jar")); found != nil {
			t.Errorf("a generator with a wrong checksum was kept: %v", found)
		}
	}
	write("path/curl", "#!/bin/sh\nexit 7\n", 0o700)
	run("cannot download", false, "x")
	version, _, _ := strings.Cut(strings.SplitN(string(script), "version=", 2)[1], "\n")
	write("bin/tools/openapi-generator-cli-"+version+".jar", "", 0o600)

	run("sdk/x/made is stale", false, "--check", "x")
	run("sdk/x/made: 1 files", true, "all")
	run("is up to date with api/openapi.yaml", true, "--check", "all")
	write("sdk/x/made/more", "", 0o600)
	run("stale", false, "--check", "x")
	run("1 files", true, "x")
	write("sdk/x/made/a", "edited", 0o600)
	run("stale", false, "--check", "x")
	write("sdk/x/generated-finish", "#!/bin/sh\nexit 3\n", 0o700)
	run("generated-finish failed", false, "x")
	write("sdk/x/generated-finish", "#!/bin/sh\necho finished >>\"$1/a\"\n", 0o700)
	run("1 files", true, "x")
	if text, err := os.ReadFile(filepath.Join(root, "sdk/x/made/a")); err != nil || string(text) != "model\nfinished\n" {
		t.Errorf("%q, %v", text, err)
	}
	write("sdk/x/generator.yaml", "x-from: elsewhere\nx-into: made\n", 0o600)
	run("wrote no files there", false, "x")
	write("path/java", "#!/bin/sh\necho broken spec; exit 1\n", 0o700)
	run("broken spec", false, "x")
	run("there is no", false, "y")
	run("--check", false)
}
