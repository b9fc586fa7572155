//go:build unix

package docs_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// need is what a language's blocks take for granted.
type need struct {
	install string   // what in .ci/run says that CI has it; empty: it always has
	checks  []string // commands that succeed where it is there
}

var needs = map[string]need{
	"go": {checks: []string{`go version`}},
	"node": {"nodejs npm", []string{
		`node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)'`,
		`npm view typescript@5.9.3 version --fetch-retries=0 --fetch-timeout=20000`, // of what the package is built with
	}},
	"python": {"python3-venv", []string{
		`python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))'`,
		`d=$(mktemp -d); trap 'rm -r "$d"' EXIT; python3 -m venv "$d/venv"; "$d/venv/bin/pip" download --quiet --no-deps --retries 0 --dest "$d" hatchling==1.27.0`,
	}},
	"php": {"php-cli", []string{
		`php -r 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") && (@include "GuzzleHttp/autoload.php") && (@include "Nyholm/Psr7/autoload.php") ? 0 : 1);'`,
	}},
}

// lacking finds out which languages are not here, and why. In CI those that it
// installs have to be.
func lacking(t *testing.T) map[string]string {
	t.Helper()
	script, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for language, need := range needs {
		for _, check := range need.checks {
			why := tried(t.Context(), check)
			if why == "" {
				continue
			}
			if os.Getenv("CI") != "" && strings.Contains(string(script), need.install) {
				t.Errorf("CI brings what %s needs, and still %s", language, why)
			}
			found[language] = why
			break
		}
	}
	return found
}

// tried runs a check; empty: it succeeded.
func tried(ctx context.Context, check string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", check)
	cmd.Env, cmd.WaitDelay = environ(), time.Second
	said, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return "this fails: " + check + ": " + errors.Join(err, ctx.Err()).Error() + ": " + strings.TrimSpace(string(said[max(0, len(said)-500):]))
}
