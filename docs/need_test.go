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

	"pingpost/internal/must"
)

// need is the requirements of a language's blocks.
type need struct {
	install string   // packages in .ci/run that install it; empty: CI always has it
	checks  []string // commands that succeed if it is installed
}

var needs = map[string]need{
	"go": {checks: []string{`go version`}},
	"node": {"nodejs npm", []string{
		`node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)'`,
		`npm view typescript@5.9.3 version --fetch-retries=0 --fetch-timeout=20000`, // the registry of its dependencies answers
	}},
	"python": {"python3-venv", []string{
		`python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))'`,
		`d=$(mktemp -d); trap 'rm -r "$d"' EXIT; python3 -m venv "$d/venv"; "$d/venv/bin/pip" download --quiet --no-deps --retries 0 --dest "$d" hatchling==1.27.0`,
	}},
	"php": {"php-cli", []string{
		`php -r 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") && (@include "GuzzleHttp/autoload.php") && (@include "Nyholm/Psr7/autoload.php") ? 0 : 1);'`,
	}},
}

// missingLanguages returns the missing languages with the reasons. A language that CI installs
// must be present there.
func missingLanguages(t *testing.T) map[string]string {
	t.Helper()
	script := must.Value(os.ReadFile("../.ci/run"))(t)
	found := map[string]string{}
	for language, need := range needs {
		for _, check := range need.checks {
			failure := runCheck(t.Context(), check)
			if failure == "" {
				continue
			}
			if os.Getenv("CI") != "" && strings.Contains(string(script), need.install) {
				t.Errorf("CI installs the needs of %s, but %s", language, failure)
			}
			found[language] = failure
			break
		}
	}
	return found
}

// runCheck runs a check and returns its failure, or "".
func runCheck(ctx context.Context, check string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", check)
	cmd.Env, cmd.WaitDelay = environ(), time.Second
	output, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return "this fails: " + check + ": " + errors.Join(err, ctx.Err()).Error() + ": " + strings.TrimSpace(string(output[max(0, len(output)-500):]))
}
